"""Wordings about how it feels to sit there: padding, legroom, backrests."""

from limbeck.data.demo.grammar import inventory

SEATING_COMFORT = inventory(
    "seating-comfort",
    "Seating Comfort",
    seen="""
    - The seats are [far|much] too hard[, my back hurts after an hour|].
    - Uncomfortable seats, [my back aches|I could not sit still].
    - There is hardly any legroom [in second class|for tall people].
    - My seat could not be [adjusted|reclined], the lever was broken.
    - The new seats are much less comfortable than the old ones.
    - The upholstery is worn through and you feel every spring.
    - The headrest [is in the wrong place|presses against my head].
    - No armrest between the seats, so you sit shoulder to shoulder.
    - The seats are too narrow [for adults|for two grown men].
    - After {hours} hours on these seats I could hardly walk.
    - The backrest is so straight that sleep is impossible.
    - For [tall people|a man of my height] the legroom is [a torture|a joke].
    - My seat was broken and tilted to one side.
    - The seat cushions are as hard as a board.
    - My knees touched the seat in front of me the whole way.
    - Please put in seats on which one can sit comfortably for more than an hour.
    - The seats in the regional trains are so uncomfortable that [my legs fell asleep|I preferred to walk about].
    + The seats are [very|really|wonderfully] comfortable.
    + Comfortable seat, plenty of legroom.
    + I liked the new seats, [soft but firm|good for the back].
    + Great legroom in {coach}.
    + The seats recline and the headrest can be adjusted, very comfortable.
    + Sat very comfortably for {hours} hours, the seats are good.
    + Much more legroom than in the old trains, [my knees say thank you|well done].
    - I found no good position on that seat for {hours} hours.
    - One sits there like on a wooden plank.
    - My neck and shoulders hurt from these seats.
    - You can feel the metal through the thin cushion.
    - I am 1.94 m tall and did not know where to put my legs.
    - The armrest was torn off and the seat wobbled.
    + I sat as softly as at home on the sofa.
    + The seat was so cosy that I nodded off.
    + Enough room for long legs.
    - Sitting there is like sitting on stone.
    - My legs went numb on the hard seat.
    - Something poked me through the torn cover of my seat.
    """,
    unseen="""
    - It felt like sitting on a park bench.
    - My tailbone still hurts two days later from sitting in your train.
    - You cannot stretch out your legs anywhere.
    - The padding is gone and one sits on bare metal.
    - Whoever designed these chairs has never spent {hours} hours on one.
    - The thing I was sitting on wobbled and would not lean back.
    - My spine is not made for a right angle, but your coaches think it is.
    - Knees up to my chin and elbows in my neighbour's ribs.
    - Sitting here makes my thighs go numb after half an hour.
    - The fabric was torn and something sharp poked me from below.
    - I needed a physiotherapist after sitting in {coach} for {hours} hours.
    - Tall people have to fold themselves up like a deckchair here.
    - One slides forward all the time because the cushion slopes.
    + I could lean back and doze off like on the couch at home.
    + Like an armchair, I hardly wanted to get off.
    + At last a train in which my long legs fit.
    + Soft padding and a good angle for the spine.
    + My bad hip usually complains after an hour, but not on these soft chairs.
    + Room for my knees, a footrest and a soft cushion, what a treat.
    """,
    seen_short="""
    - Hard seats
    - Uncomfortable seats
    - No legroom
    - Seats too narrow
    - Seat broken
    - Seats hard as a board
    + Comfortable seats
    + Comfy seat
    + Good legroom
    + Great seats
    """,
    unseen_short="""
    - Sore back from sitting
    - No room for my knees
    - Bare metal under the fabric
    - Chairs made of stone
    + Soft chairs
    + Sat like a king
    + Like an armchair
    """,
    seen_misses="""
    + Changing only once makes for a comfortable trip.
    + Booking with the app is comfortable.
    - The hotel bed in {to} was far too hard.
    - It is hard to [understand your prices|find the right platform].
    - The chairs in the waiting room at {from} are uncomfortable.
    = The ticket shows the seat number in tiny print.
    + With my bad back I am grateful for the lift in {from}.
    - The bench on platform 4 is broken.
    - The folding table at my seat was sticky.
    + It is a comfort to know that there are still night trains.
    + I was comfortably home before the shops closed.
    - The seat number on the ticket is hard to read.
    - The lamp above my seat was broken.
    - The stools in the café at {from} are made for children, my knees did not fit under the table.
    """,
    unseen_misses="""
    - The benches on the platform could do with some padding.
    = My back was aching from moving house, so I took the lift.
    - It is hard on families that the family discount is gone.
    + I stretched my legs on the platform in {via}, a pretty station.
    + The app lets you lean back: everything is booked in two taps.
    - The sofa in your lounge at {from} has a broken leg.
    - The mattress in our guest house in {to} was awful.
    = I was sitting next to a man who builds armchairs, a nice chat.
    """,
)
