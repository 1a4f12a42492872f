"""Wordings about the people who work on board and what they do for travellers.

Ticket offices, hotlines and taxi drivers are near misses.
"""

from limbeck.data.demo.grammar import inventory

TRAIN_SERVICE = inventory(
    "train-service",
    "Train Service",
    seen="""
    - The conductor was [rude|unfriendly|very impolite][ to my mother| when I asked a question|].
    - The staff on board were [unfriendly|overwhelmed|nowhere to be found].
    - The staff on the train gave us no information at all.
    - The train attendant did not help although I asked twice.
    - The service on board was terrible.
    - Not one announcement from the conductor, nobody knew what was going on.
    - The waiter in the bistro car ignored us [for half an hour|completely].
    - Bad service in first class: no attendant came to take an order.
    - The conductor woke me for the third time to check my ticket and was rude about it.
    - The train staff gave us three different answers to the same question.
    - An unfriendly conductor [spoiled my day|should not work with people].
    - Your conductor accused me of travelling without a ticket in front of everyone.
    + The conductor was [very friendly|extremely helpful|in a great mood].
    + [Friendly|Lovely|Very attentive] staff on board.
    + Great service [on board|at the seat], thank you.
    + The train attendant [explained everything patiently|found a solution for us at once|was a real help].
    + A big thank you to the crew of the {train}.
    + The conductor kept us informed [all the way|with friendly announcements].
    + Excellent service in the bistro car, friendly and quick.
    + The staff on the train took great care of my son, who travelled alone.
    + The conductor helped an old lady off the train, that was very kind.
    + Best crew [in a long time|I have ever met], always friendly and helpful.
    - The lady who checked the tickets was snappy with everybody.
    - Nobody from the crew came through the train in {hours} hours.
    - When I asked for help, the man from the train crew just walked away.
    - The tone in which your people on board talk to passengers is awful.
    - The woman in the bistro car sighed when we asked for a glass of water.
    + The man who checked the tickets had a joke for every child.
    + The crew brought water to all of us, that was thoughtful.
    + My ticket would not load, but the conductor was kind and gave me time.
    + Your employee on the train walked through the coach and had an answer to every question.
    - No one in uniform anywhere on the train.
    - I rang for the attendant and nobody came.
    - The man who checks the tickets made fun of a passenger.
    - Your people on the train do not even say hello.
    + A man in uniform helped a blind woman to her place.
    + The waiter brought coffee to our table with a smile.
    + Funny announcements by the conductor over the loudspeaker, we all laughed.
    """,
    unseen="""
    - The man who checked our tickets barked at a tourist.
    - I pressed the call button and nobody ever came.
    - In {hours} hours not one person in uniform walked through the train.
    - The gentleman in the dining car rolled his eyes when I asked for water.
    - Those who work on this train should learn to say good morning.
    - The guard shrugged and walked on.
    - A woman in uniform turned her back on me when I asked her the way to {coach}.
    - The ticket inspector made fun of my accent.
    - The guard treated us like criminals because the phone took a moment to show the ticket.
    + The woman with the drinks trolley had a kind word for everyone.
    + The guard cracked jokes over the loudspeaker and had all of us laughing.
    + A young man in uniform walked my blind father to his place.
    + The person who inspected the tickets was charming and patient.
    + Hats off to the two ladies who looked after us on board.
    + Your colleague in {coach} drew my daughter a little train on her ticket.
    + The guard told us every few minutes what was going on, calmly and clearly.
    + Coffee was brought to us with a smile while we were rolling through the hills.
    + The lady in the dining car warmed up the baby's bottle without being asked.
    + The guard noticed that my son was frightened and sat with him for a while.
    """,
    seen_short="""
    - Unfriendly conductor
    - Bad service on board
    - Rude staff on the train
    - Conductor was rude
    + Friendly staff
    + Friendly conductor
    + Great service
    + Nice conductor
    + Top crew
    + Very helpful train attendant
    """,
    unseen_short="""
    - Grumpy guard
    - Nobody in uniform to be seen
    - Barked at by the guard
    - Ticket inspector in a foul mood
    + Charming guard
    + Such kind people working on this train
    + Guard with a sense of humour
    """,
    seen_misses="""
    - The service hotline hung up on me.
    - The lady at the ticket office in {from} was very unfriendly.
    - The staff in the travel centre sent me to the wrong counter.
    + The hotel staff in {to} were wonderful.
    - The taxi driver was rude.
    - I cannot change my address in the online service.
    + The Sunday service in the cathedral of {to} was beautiful.
    - The ticket machine was out of service.
    - Why is there no service counter in {via} any more?
    - The security staff at the airport were unfriendly.
    = I am a conductor, of an orchestra that is, and travel a lot.
    + A fellow passenger was very friendly and shared her sandwiches with us.
    - Customer service has not answered my email.
    + The friendly staff at the station bakery made my morning.
    + The lady at the information desk was very helpful.
    + The young man in the bookshop at the station was kind and took his time.
    """,
    unseen_misses="""
    + The woman behind the counter in {from} was charming.
    - Your chat robot is no use to anybody.
    + The guard at the museum in {to} let us in for free.
    + The baker at the station always has a kind word for me.
    - The call centre would not put me through to anyone.
    + The students across the aisle helped me with my crossword, charming people.
    + The old uniforms in the railway museum of {to} were interesting.
    - The bus driver shrugged and drove off.
    - The man at the snack bar in {from} barked at me.
    """,
)
