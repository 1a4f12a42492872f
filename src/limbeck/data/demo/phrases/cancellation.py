"""Wordings about trains that did not run, ended early or skipped a stop.

A cancellation alone owes the traveller nothing; as soon as a night, a fare or an hour is lost, the wording
belongs to Passenger Rights and is written there.
"""

from limbeck.data.demo.grammar import inventory

CANCELLATION = inventory(
    "train-cancellation",
    "Train Cancellation",
    seen="""
    - My train to {to} was cancelled[ without warning| at short notice|].
    - The {other_train} has been cancelled [again|for the third time this week].
    - Cancellation after cancellation on this line.
    - The {time} train was simply cancelled[, the next one came half an hour later|].
    - Our train was cancelled because of [a driver shortage|a defective engine|the storm].
    - The cancellation was only shown in the app when I was already on the platform.
    - I learned of the cancellation [from other travellers|on the platform].
    - Trains between {from} and {to} are cancelled [every weekend|nearly every week].
    - The train ended in {via} and we all had to get off.
    - A rail replacement bus took us from {from} to {via}, that is no replacement for a train.
    - Two cancelled trains in one day[ on the same route|].
    - The train was cancelled from {via} onwards.
    - The stop in {via} was cancelled, so we had to go back with the next train.
    - We waited on the platform, but the {time} never came.
    - Why is it always the {time} that gets cancelled?
    - Since {month} every second train [to {to}|on our branch line] has been cancelled.
    - Again a replacement bus instead of the train[ to {to}|].
    - Cancelled trains [every single week|week after week], how is anybody supposed to commute like this?
    - The board said that the train would not run today.
    + Luckily not a single train was cancelled this [week|month].
    + Our train was not cancelled in spite of the storm, [thank you|great].
    + When my train was cancelled, the app showed me another one [within seconds|right away].
    + The replacement bus for the cancelled train was already waiting, well organised.
    + No cancellations [since {month}|for weeks], much better than last year.
    - The {time} was left out today, as if it did not exist.
    - The journey stopped in {via}, the rest of the route was not served.
    - All evening trains are gone from the timetable because of [works|sick drivers].
    - Instead of a train we got a bus that went through every village.
    - They have removed the {time} from the plan [for today|until {month}].
    - Nothing is running between {from} and {via} today.
    - {via} was not served, the train just drove past the platform.
    - There was no train in the morning and there was no train at noon.
    + All trains ran as planned, even on the day of the strike.
    - Every second line on the board said cancelled.
    - Called off five minutes before departure.
    - For the last part we had to take a bus because no trains were running.
    - I waited for a train that was no longer in the timetable.
    """,
    unseen="""
    - The {time} did not run, and neither did the one before.
    - Our train was scrapped ten minutes before it should have left.
    - The {other_train} disappeared from the board without a word.
    - They turned us out in {via} because the train went no further.
    - In {via} the journey was over: everybody out, this train goes to the depot.
    - For the last stretch we were put on a coach because nothing was running on the rails.
    - No driver, no train[, so simple|].
    - All services to {to} were withdrawn for the [whole day|evening].
    - Half of the departures this morning were crossed out on the board.
    - The evening train has been struck out all week and nobody says until when.
    - The train raced through {via} without stopping, although it is supposed to call there.
    - I waited for a train that had been taken out of the timetable.
    - Called off at the last moment, and the platform was full of puzzled people.
    - All that was left of my {time} was a red line on the screen.
    - On the second of the two legs there was simply no train.
    - Nothing runs on our branch line after eight any more because drivers are ill.
    - The morning train to {to} was axed without a word of explanation.
    + I had expected gaps because of the strike, yet every single train ran.
    + Nothing was struck out this time, all the trains on the board actually ran.
    + When our train could not run, a spare one was ready at once.
    + Everything ran despite the storm warning, I had feared the worst.
    """,
    seen_short="""
    - Train cancelled
    - Cancelled again
    - Another cancellation
    - Cancelled without notice
    - Too many cancellations
    - Replacement bus again
    - Train to {to} cancelled
    - {train} cancelled
    + No cancellations this week
    """,
    unseen_short="""
    - Train did not run
    - Train never came
    - Coach instead of rails
    - Scrapped without a word
    - Crossed out on the board again
    - Everybody out in {via}, end of the line
    - No train after eight
    - {train} struck out
    + Every train ran
    """,
    seen_misses="""
    = Last month I had to cancel a trip because I fell ill, and doing so in the app was easy.
    = How do I cancel my [subscription|monthly pass]?
    = My hotel cancelled the room, so I am staying with friends.
    - My order was cancelled by mistake when I changed my payment card.
    + My flight was cancelled, so I took the train instead and was happy with it.
    - The cancellation fee for a flexible ticket is far too high.
    = The concert in {to} was cancelled, so we travelled back the same evening.
    - Please get a replacement for the broken ticket machine in {from}.
    = The bus from the village to the station was cancelled, so a neighbour drove me.
    - I tapped on cancel and the app froze.
    = I only ride as far as {via}, where I get off.
    - The cancellation of the family discount is a mistake.
    = The book club was called off, so I used the ticket for a day at the lake.
    - The kiosk on the platform no longer exists, removed without a word.
    """,
    unseen_misses="""
    = The airline scrapped our flight, so we went by rail.
    = I would like to withdraw from my railcard contract.
    = The trade fair was called off while we were already on our way.
    = An appointment in {month} fell through, so that ticket was never used.
    = The village bus did not run, so my father drove me to the station.
    - The lift in {via} does not run and is crossed out on the station plan.
    = My partner backed out, so I would like to hand back one of the two tickets.
    - The old night fare has been axed, what a pity.
    - The print function in the app was scrapped, bring it back.
    """,
)
