"""Sentences about none of the eleven topics: toilets, prices, the app, food, stations, praise in general."""

from limbeck.data.demo.grammar import inventory

OFF_TOPIC = inventory(
    "",
    "Off topic",
    seen="""
    - The toilets were [filthy|locked|out of paper][ again|].
    - The toilet in {coach} could not be flushed.
    - Tickets have become far too expensive.
    - {price} for such a short trip is a lot of money.
    - The app [crashes|freezes] whenever I open my tickets.
    - The lift in {from} has been broken since {month}.
    - Graffiti all over the windows, you cannot look out.
    - The floor was sticky and the bins were overflowing.
    - I do not understand your fare system.
    - There was no power at the sockets.
    - The signs in {via} are confusing.
    - My dog needs a ticket that costs more than mine, why?
    - The ticket machine did not accept my card.
    - Please bring back the printed timetable.
    - The bicycle hooks are made for people of two metres.
    - The ramp for my wheelchair was missing in {via}.
    - The sandwich in the shop at the station cost nine euros.
    - The light above me flickered.
    - Your password rules are a nightmare.
    - I find the questions in this survey odd.
    + A lovely view along the river.
    + The app is easy to use.
    + The toilets were clean.
    + I like the new design of the trains.
    + The price was fair.
    + A clean train, that is all I ask for.
    + Booking was simple.
    + The children loved the play area.
    = I took the {train} on {weekday}.
    = This was my first trip by train since {month}.
    = I use this line twice a week.
    = Is there a discount for students?
    = Can I take my bicycle along on {weekday}?
    = Do children of six need a ticket of their own?
    = Which platform does the night train use?
    """,
    unseen="""
    - No soap and no towels in the washroom.
    - The whole coach smelled of old fish.
    - Every year you ask for more money.
    - The vending machine in {from} is empty most of the time.
    - The update has deleted my saved journeys.
    - The windows have not been washed since spring.
    - My fare went up by a third within a year.
    - The escalator in {from} stands still.
    - No barrier-free way to platform 5.
    - The bins had not been emptied.
    - I cannot find my bonus points.
    + The landscape between {from} and {via} is a dream.
    + Cheap and simple, just how I like it.
    + Sparkling clean washrooms.
    + Paying by phone was a matter of seconds.
    + My daughter was proud of her own ticket.
    = Where can I buy tickets for a group of twelve?
    = Are dogs allowed in the dining car?
    = From which age does the senior fare apply?
    = I changed to the railway when I sold my car.
    = We visited friends in {to} over the weekend.
    """,
    seen_short="""
    = ok
    = Nothing to add
    = All fine
    = No comment
    = Test
    - Too expensive
    - Dirty toilets
    - Very disappointing
    - Never again
    - App crashes
    - Bad
    - Prices!
    + Very good
    + Thank you
    + Great trip
    + All good, thanks
    + Top
    + Keep it up
    + Gladly again
    + Super
    + Clean train
    """,
    unseen_short="""
    = Hello
    = Nothing
    = As always
    = see above
    - Smelly washroom
    - What a disaster
    - Filthy windows
    - A shame
    + Lovely ride
    + Perfect
    + Well done
    + Beautiful view
    """,
    seen_misses="",
    unseen_misses="",
)
