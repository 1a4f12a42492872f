"""The wordings of the demo corpus, one module a category.

A category means this, and every line of the inventories was written to it:

* Punctuality: did a train run to time, with delays, early arrivals and connections missed by them.
* Train Cancellation: a train did not run, ended early, left out a stop or was replaced by a bus.
* Passenger Rights: the railway may owe the writer something, see `passenger_rights`.
* Seat Availability: was there a place to sit, with crowding and reservations.
* Seating Comfort: how it felt to sit there.
* Temperature, Loudness, WLAN / Internet: heat and cold, noise and quiet, the network, each on board.
* Luggage: stowing, carrying, losing luggage on a railway journey.
* Train Service: the people working on board and what they do for travellers.
* Face Mask: wearing masks on board, and the rule.

Praise and denial count as mentions ('no delay at all' is about Punctuality).
"""

from limbeck.data.demo.grammar import Inventory
from limbeck.data.demo.phrases.cancellation import CANCELLATION
from limbeck.data.demo.phrases.face_mask import FACE_MASK
from limbeck.data.demo.phrases.loudness import LOUDNESS
from limbeck.data.demo.phrases.luggage import LUGGAGE
from limbeck.data.demo.phrases.offtopic import OFF_TOPIC
from limbeck.data.demo.phrases.passenger_rights import PASSENGER_RIGHTS
from limbeck.data.demo.phrases.punctuality import PUNCTUALITY
from limbeck.data.demo.phrases.seat_availability import SEAT_AVAILABILITY
from limbeck.data.demo.phrases.seating_comfort import SEATING_COMFORT
from limbeck.data.demo.phrases.temperature import TEMPERATURE
from limbeck.data.demo.phrases.train_service import TRAIN_SERVICE
from limbeck.data.demo.phrases.wlan_internet import WLAN_INTERNET

INVENTORIES: dict[str, Inventory] = {
    inventory.slug: inventory
    for inventory in (
        PUNCTUALITY,
        CANCELLATION,
        PASSENGER_RIGHTS,
        SEAT_AVAILABILITY,
        SEATING_COMFORT,
        TEMPERATURE,
        LOUDNESS,
        LUGGAGE,
        TRAIN_SERVICE,
        WLAN_INTERNET,
        FACE_MASK,
    )
}

TITLES: dict[str, str] = {slug: inventory.title for slug, inventory in INVENTORIES.items()}

__all__ = ["INVENTORIES", "OFF_TOPIC", "TITLES"]
