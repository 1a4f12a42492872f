"""Wordings about finding a place to sit: overcrowding, reservations, empty coaches."""

from limbeck.data.demo.grammar import inventory

SEAT_AVAILABILITY = inventory(
    "seat-availability",
    "Seat Availability",
    seen="""
    - No free seats [in second class|after {via}|at all], I had to stand [all the way|until {via}].
    - The train was [completely|hopelessly] overcrowded[ again|].
    - I stood for {hours} hours although I had paid the full price.
    - My reserved seat was taken[ and the person would not move|].
    - The reservations were not displayed, so everybody sat anywhere.
    - My reservation was useless because {coach} was missing.
    - People were sitting on the floor [in the aisle|by the doors].
    - Too few seats on the {train} on Friday [afternoons|evenings].
    - Only one unit instead of two, so there were no seats left.
    - Overcrowded [again|as ever], standing room only.
    - I could not find a free seat for [my mother, who is 82|my pregnant wife|my little son].
    - Please add more coaches, the {time} is always full.
    - First class was half empty while we stood in the aisle of second class.
    - Without a reservation there is no chance of a seat on [Sunday evenings|Friday afternoons].
    - The seat I had reserved does not exist on this train.
    - I paid for a reservation and still had to stand until {via}.
    - The train is so full that you cannot even get to the toilet.
    - Like sardines in a tin [again this morning|from {from} to {via}].
    - Why do you sell so many tickets when there are not enough seats?
    - Two coaches fewer than planned, and so [half of us|dozens of people] had to stand.
    + Plenty of free seats[, even on a Friday|].
    + I found a seat at once[, even without a reservation|].
    + My reserved seat was free and clearly marked.
    + The train was pleasantly empty, everyone got a seat.
    + Even at rush hour everyone had a seat.
    + There were enough free seats [in every coach|for our whole group].
    + Good that the app shows how full the train is, I got a seat right away.
    - I sat on my coat on the floor near the toilet because everything was full.
    - We stood packed together in the entrance until {via}.
    - Somebody sat in my place and did not want to leave, in spite of my reservation.
    - Not everybody could get on in {via}, that is how crowded the train was.
    - Old people stood in the corridor because there was no place for them.
    - Our places had been given to others, so the four of us were spread over the train.
    - Far too many people for such a short train.
    + Lots of empty places, we could spread out.
    + A place by the window was free, wonderful.
    + Hardly anyone on the train, so we could choose our places.
    - The place I had booked was taken by somebody else.
    - We had booked places together and ended up in three different coaches.
    - The coach number on my booking was wrong, so I went up and down the train looking for a place.
    - On my feet from {from} to {via}, and my legs hurt.
    - I sat on the steps because there was no other place.
    - People were squeezed together in front of the doors.
    - With my bad leg I found nothing to sit on.
    + We had a whole compartment to ourselves.
    + There was a free table for us although we had not booked.
    """,
    unseen="""
    - I made the trip to {to} on the steps by the door.
    - Packed to the roof, hardly room to put both feet on the ground.
    - Somebody else was in the place I had booked and refused to get up.
    - {hours} hours on my feet in the vestibule[, at my age|].
    - The number on my booking did not exist, so I wandered from coach to coach.
    - In {via} the doors hardly closed, that is how many people were squeezed in.
    - A school class had been put into our coach and the places we had booked were gone.
    - The train was shorter than usual and people leaned against every wall.
    - On crutches, and nowhere to sit down.
    - We had booked four places together and found four strangers there.
    - On the floor again, with my back against the bicycle hooks.
    - People were left behind on the platform because nobody else fitted in.
    - We spent the whole ride squeezed together in front of the toilet.
    - The crush in the morning is dangerous, people can hardly breathe.
    - Twice as many travellers as places, every single Sunday.
    + I had a whole row to myself.
    + So much room that I could pick where I wanted to sit.
    + Half empty coaches in the middle of the holidays, a nice surprise.
    + Nobody was left without a place.
    + We got a table for four without having booked.
    + The place I had booked was waiting for me with my name on the display.
    """,
    seen_short="""
    - No seats
    - Overcrowded
    - Too full
    - Had to stand
    - Reserved seat taken
    - More coaches please
    - Not enough seats
    - Standing since {via}
    - Train too full
    + Enough seats
    + Free seats everywhere
    """,
    unseen_short="""
    - Packed
    - On my feet all the way
    - Nowhere to sit
    - Squeezed in like cattle
    - On the floor since {via}
    - Place booked, place gone
    + Lots of room to sit
    + Half empty coach, nice
    + A whole row to myself
    """,
    seen_misses="""
    - The car park at {from} was full, not one free space.
    - Not a single free seat in the waiting room at {from}.
    - The app would not let me reserve a [bicycle space|parking space].
    - In the airport shuttle bus we had to stand.
    = It would be nice to sell hotel reservations together with the ticket.
    = The restaurant opposite the station was full, so we ate a sandwich.
    - I cannot stand the new [logo|app icon].
    - The socket at my seat was [dead|loose].
    = I left my glasses at {seat} in {coach}.
    + From my seat I could see the whole [valley|lake].
    + Full marks for the new app.
    - In {coach} the toilet was locked.
    = My diary is full, so I am glad that I can read files on the way.
    - There was no free parking space for disabled people at {from}.
    - The window at my reserved seat was so dirty that I saw nothing of the valley.
    - The bus to the lake was packed, we let it go and walked.
    """,
    unseen_misses="""
    - The parking deck next to the station is packed by seven in the morning.
    - The tram was so crowded that we walked to the station.
    = I had a lot on my plate at work and slept until {to}.
    = The theatre in {to} was sold out, so we came home early.
    - The bicycle stand in front of {from} has no room left.
    = I found a child's jacket in the next row and took it to lost property.
    = Where do you stand on cheaper tickets for students?
    - The lounge at {from} was packed.
    = We had booked a table at a restaurant in {to}.
    """,
)
