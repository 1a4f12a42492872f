"""Wordings about stowing, carrying and losing luggage.

A suitcase that merely travels along in a sentence is a near miss, not a comment on luggage.
"""

from limbeck.data.demo.grammar import inventory

LUGGAGE = inventory(
    "luggage",
    "Luggage",
    seen="""
    - There is [hardly any|no] space for luggage[ in the new trains|].
    - The luggage racks were full, so suitcases stood in the aisle.
    - My suitcase did not fit [on the rack|under the seat|anywhere].
    - Suitcases blocked the aisle[ and the doors|].
    - The luggage rack is much too high, I could not lift my suitcase onto it.
    - The luggage rack above the seats is too narrow for a normal suitcase.
    - My bag was stolen from the luggage rack[ near the door|].
    - I left my backpack in the {train}, has it been found?
    - Where are we supposed to put a pram and two suitcases?
    - More luggage space please[, especially on trains to the airport|].
    - Bags lay on the seats while people had to stand. #seat-availability
    - The luggage shelf at the end of the coach was locked.
    - Your luggage service delivered my suitcase [two days late|broken].
    - For {hours} hours I had my suitcase between my legs because the racks were full.
    - The big luggage everywhere is dangerous, someone fell over a suitcase.
    - My suitcase has been missing since I got off in {to}.
    + Plenty of room for luggage[, even for our big suitcases|].
    + The luggage racks between the seats are really practical.
    + My forgotten suitcase was found within a day, thank you.
    + We could store both suitcases right next to us, good luggage racks.
    + A conductor helped me to lift my suitcase onto the rack. #train-service
    + There was enough space for all our bags and the pram.
    - You stumble over bags and boxes in every aisle.
    - Our big backpacks had to stay in the entrance, the shelves are too small.
    - A heavy bag fell down from the rack onto a man's shoulder.
    - Somebody took my travel bag by mistake in {via}, where can I report that?
    - There is no place where I can put my guitar or a pair of skis.
    - We piled our bags up at the door because there was nowhere else to put them.
    + Bags, guitar, pram: there was a place for everything.
    + I got my lost bag back, thank you so much.
    + Heavy bags can be put down right at the entrance, very good.
    - My trolley case did not fit anywhere.
    - I had to climb over suitcases to get out.
    - Somebody stole my rucksack from the shelf while I slept.
    + We could stow everything easily.
    """,
    unseen="""
    - I had to climb over trolleys and holdalls to get to the toilet.
    - Nowhere to put down a trolley case, so it rolled about in every curve.
    - We were travelling with three trolleys and ended up stacking them in front of the door.
    - The overhead shelf is so shallow that a cabin trolley sticks out.
    - My trolley was gone when I wanted to get off in {to}.
    - A holdall fell from above and nearly hit a child.
    - Where does a family of five put its things for two weeks of holiday?
    - The big shelf was taken up by two surfboards and a box.
    - One needs the arms of a weightlifter to get anything up there above the windows.
    - My cello had to travel in the corridor because there was no place to stow it.
    - I forgot a blue holdall on board, who can help?
    - I held my rucksack on my knees all the way, there was nowhere to stow it.
    - The corridor was a mountain of trolleys, in a fire nobody would get out.
    + All our holiday things found a place by the door.
    + Even the cello and the skis could be stowed easily.
    + The big shelves by the entrance are ideal for trolleys.
    + The handbag I had left on board came back to me by post, fantastic.
    """,
    seen_short="""
    - No space for luggage
    - Suitcases everywhere
    - Luggage racks full
    - Luggage racks too small
    - Suitcase stolen
    - Where to put the luggage?
    + Lots of luggage space
    + Good luggage racks
    """,
    unseen_short="""
    - Trolleys all over the aisle
    - Nowhere to stow my things
    - Holdall lost on board
    - My trolley is gone
    + Everything fits on the shelf
    + Easy to stow a pram
    """,
    seen_misses="""
    = With my suitcase in my hand I ran to platform 9.
    = I bought a new suitcase in {to}, the shops there are lovely.
    - I stood at the bus stop in the rain with my luggage.
    - My airline lost my suitcase.
    = I only had hand luggage with me and walked from the station to the hotel.
    = My son packed his bag and off we went to {to}.
    - The luggage belt at the airport was broken.
    - The bag of crisps from the vending machine was out of date.
    = I had packed sandwiches in my backpack because the kiosk was shut.
    + It was my first trip with a backpack since my student days, great fun.
    = Our dog slept in his bag all the way.
    = I was just closing my bag when the phone rang.
    = I put my suitcase down and bought a ticket at the machine.
    - The space for adverts in your magazine is bigger than the space for news.
    = I sat on the steps of the station with my bag and ate an ice cream.
    """,
    unseen_misses="""
    + Trolley in hand, I strolled from the station into the old town.
    - The airport mislaid our trolleys on the flight home.
    = I keep my railcard in my handbag.
    - The paper bag from the bakery tore on the platform.
    = Our family carries a lot of emotional baggage, the trip did us good.
    = I was on my way to buy a new trolley for the summer.
    + The rucksack tour around {to} was wonderful.
    = I took a book out of my rucksack and read until {to}.
    = My grandmother pulled a thermos out of her holdall and told us stories.
    """,
)
