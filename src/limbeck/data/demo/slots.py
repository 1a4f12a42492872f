"""Values for the slots of the wordings, drawn once a text."""

import random

CITIES = (
    "Altenberg",
    "Kirchfeld",
    "Norhaven",
    "Steinbruck",
    "Wellmark",
    "Ostrau",
    "Lindenau",
    "Marbeck",
    "Haldern",
    "Bruckwald",
    "Seeburg",
    "Tannfurt",
    "Grunau",
    "Falkenau",
    "Eschweil",
    "Port Arlen",
    "Vierkirch",
    "Rothmoor",
    "Weidach",
    "Amselfeld",
    "Hochried",
    "Ellerstadt",
    "Kranich",
    "Moosbach",
)
NAMES = (
    "A. Brandt",
    "Ines",
    "T. Okafor",
    "Jonas",
    "M. Petrov",
    "Helga S.",
    "R. Lindqvist",
    "Samir",
    "K. Vogel",
    "Eva and Paul",
    "Fam. Neumann",
    "P. Moreau",
    "Lena",
    "G. Hartmann",
    "B. Y.",
    "Aylin",
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "March", "April", "June", "August", "September", "November", "December")
# Below an hour with room to spare: an hour is where Passenger Rights begins.
MINUTES = ("5", "8", "10", "12", "15", "18", "20", "25", "30", "35", "40", "ten", "fifteen", "twenty", "thirty")
ALMOST_HOUR = (
    "almost an hour",
    "nearly an hour",
    "just under an hour",
    "a little less than an hour",
    "not quite an hour",
    "three quarters of an hour",
    "50 minutes",
    "55 minutes",
    "58 minutes",
)
OVER_HOUR = (
    "over an hour",
    "more than an hour",
    "well over an hour",
    "one hour and ten minutes",
    "an hour and a half",
    "almost two hours",
    "nearly three hours",
    "two hours",
    "three hours",
    "65 minutes",
    "75 minutes",
    "95 minutes",
    "110 minutes",
)
HOURS = ("two", "three", "four", "five", "six")


def draw_slots(rng: random.Random) -> dict[str, str]:
    """Draw one value for every slot; the three towns differ."""
    start, destination, between = rng.sample(CITIES, 3)
    number = rng.randint(100, 2999)
    trains = (f"IC {number}", f"EC {number}", f"RE {number % 60 + 1}", f"express {number}")
    return {
        "from": start,
        "to": destination,
        "via": between,
        "train": rng.choice(trains),
        "other_train": f"IC {number + rng.randint(1, 40)}",
        "time": f"{rng.randint(5, 22)}:{rng.randint(0, 59):02d}",
        "minutes": rng.choice(MINUTES),
        "almost_hour": rng.choice(ALMOST_HOUR),
        "over_hour": rng.choice(OVER_HOUR),
        "hours": rng.choice(HOURS),
        "coach": f"coach {rng.randint(1, 14)}",
        "seat": f"seat {rng.randint(11, 118)}",
        "weekday": rng.choice(WEEKDAYS),
        "month": rng.choice(MONTHS),
        "price": f"{rng.randint(9, 39)} euros",
        "cost": f"{rng.randint(48, 190)} euros",
        "hot": str(rng.randint(29, 37)),
        "cold": str(rng.randint(8, 14)),
        "name": rng.choice(NAMES),
    }
