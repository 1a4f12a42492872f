"""Wordings by travellers who may be owed something for a late or cancelled train.

The line is drawn as the law draws it: an hour or more at the destination, a night or a taxi paid for because
of the railway, or a claim for a late or cancelled train. Fifty-five minutes, a double booking, a plane or a
parking fee stay on the other side.
"""

from limbeck.data.demo.grammar import inventory

PASSENGER_RIGHTS = inventory(
    "passenger-rights",
    "Passenger Rights",
    seen="""
    - We got to {to} {over_hour} late[ in the end|]. #punctuality
    - At {to} the delay had grown to {over_hour}. #punctuality
    - Because of a delay of {over_hour} I [demand|expect|ask for] a refund of my ticket. #punctuality
    - My train was cancelled and the taxi cost me {cost}, please refund that. #train-cancellation
    - The last train was cancelled, so we had to pay for a hotel in {via}. #train-cancellation
    - I would like to claim compensation for the delay on {weekday}. #punctuality
    - Where do I find the passenger rights form?
    - How do I apply for compensation after a delay? #punctuality
    - I demand a refund for the cancelled train[ on {weekday}|]. #train-cancellation
    - We missed the last connection because of the delay and I want the hotel bill refunded. #punctuality
    - I sent in the compensation form [six weeks ago|twice] and have heard nothing.
    - Since our delay was {over_hour}, I am asking for part of the fare back. #punctuality
    - Because two trains were cancelled I was {over_hour} late. #train-cancellation #punctuality
    - Train late, connection missed, {over_hour} lost: I expect a refund. #punctuality
    - Your delay cost me [a night in a hotel|a taxi for {cost}], where can I hand in the receipt? #punctuality
    - I am entitled to compensation for the delay and I will insist on it. #punctuality
    - Will I get part of my fare back? We were {over_hour} late. #punctuality
    - First a cancelled train, then a delay of {over_hour}, now I want compensation. #train-cancellation #punctuality
    - My claim for the cancelled train was rejected, I want to know why. #train-cancellation
    - The delay was {over_hour}, so please tell me how to get my compensation. #punctuality
    - Late by {over_hour}, and not a word about [a refund|compensation]. #punctuality
    + My compensation for the delay in {month} was paid within a week, thank you. #punctuality
    + The refund for the cancelled train came quickly, that was well done. #train-cancellation
    + The passenger rights form in the app is easy to fill in, well done.
    - Our arrival was planned for 20:10, and we were there at 21:45. #punctuality
    - Instead of at four o'clock I was in {to} at half past five. #punctuality
    - The journey took {over_hour} longer than planned. #punctuality
    - I had to spend the night in {via} because the last train was cancelled. #train-cancellation
    - I want back what I paid for the taxi after the train was cancelled. #train-cancellation
    - To whom do I send my claim? The train was {over_hour} late. #punctuality
    - We missed the last train through your delay and nothing ran until the morning. #punctuality
    - Which part of the price do I get back for a train that did not run? #train-cancellation
    - I had to book a room and a new ticket because your train did not run, that is {cost}. #train-cancellation
    - No train ran any more and I had to pay for a room myself. #train-cancellation
    - Please reimburse the cab I took after my train ended in {via}. #train-cancellation
    - Instead of at seven in the evening I was home at nine. #punctuality
    - How much of the ticket price do I get back after {over_hour} of delay? #punctuality
    + The hotel after the cancelled night train was paid for by you, quickly and politely. #train-cancellation
    """,
    unseen="""
    - It was past midnight instead of half past ten when we got to {to}. #punctuality
    - Planned arrival 18:05, actual arrival 19:40. What are you going to do about that? #punctuality
    - We were stranded in {via} for the night because no train ran, and I paid for the room. #train-cancellation
    - What do I get back of my ticket price when I reach {to} two hours behind plan? #punctuality
    - I would like to be reimbursed for the cab I needed when your train went no further. #train-cancellation
    - I expect you to cover the room I had to book after the night train was scrapped. #train-cancellation
    - To whom do I send the cab receipt after being turned out in {via} with no train onwards? #train-cancellation
    - I insist on what the law gives me after {over_hour} behind schedule. #punctuality
    - What should have been a journey of two hours took [four|almost five]. #punctuality
    - Half the fare back is the least I expect when my train is struck out. #train-cancellation
    - A voucher would be only fair after being stuck on the line for [two and a half|three] hours. #punctuality
    - We should have been in {to} at noon and it was half past one. #punctuality
    - Please send me the claim papers, my son got home {over_hour} behind plan. #punctuality
    - Instead of eight in the evening I was home at [ten|half past nine], thanks to your train. #punctuality
    - I am out of pocket by {cost} because the last train was scrapped and I needed a room. #train-cancellation
    - The lawyer says that I can ask for half of the fare after such a late arrival. #punctuality
    + You paid me back a quarter of the fare after our late arrival without any fuss, well done. #punctuality
    + The room I needed after the scrapped night train was paid for within days. #train-cancellation
    """,
    seen_short="""
    - Compensation for the delay please #punctuality
    - Refund for the cancelled train please #train-cancellation
    - {over_hour} late #punctuality
    - Compensation form?
    - Passenger rights form please
    - Delay of {over_hour} #punctuality
    - Delay {over_hour}, refund? #punctuality
    """,
    unseen_short="""
    - Two hours behind schedule #punctuality
    - Who pays for my room after the scrapped train? #train-cancellation
    - Fare back for the train that never came #train-cancellation
    - Claim papers please, {over_hour} behind plan #punctuality
    - {over_hour} behind schedule in {to} #punctuality
    """,
    seen_misses="""
    - We were {almost_hour} late in {to}. #punctuality
    - The delay was {almost_hour}[, how annoying|]. #punctuality
    - {almost_hour} late once more. #punctuality
    - The app charged me twice for the same ticket, I want a refund.
    = For my next trip I booked the wrong day by mistake and would like a refund.
    - Parking at {from} costs {price} a day, that is robbery.
    - The vending machine on the platform took my money, please refund it.
    = Can I buy a voucher for a journey as a birthday present?
    - My plane was three hours late and the airline refuses any compensation.
    = I want to return a ticket for next week because I am ill, will I get a refund?
    - The taxi from the station to our hotel cost {price}.
    = Where do I find the form for a new railcard?
    - The refund for the ticket I returned took six weeks.
    - The delay was {minutes} minutes, so I know that there is no compensation. #punctuality
    - My train was cancelled, but I took the one twenty minutes later and lost hardly any time. #train-cancellation
    - Only ten minutes late, I need no compensation, just a word of apology. #punctuality
    - The hotel in {to} refuses to refund the night that I cancelled.
    - My claim against the parking company at {from} was rejected.
    - Arrival planned for 20:10, and we were there at 20:40. #punctuality
    - Instead of at four o'clock I was in {to} at half past four. #punctuality
    - The journey took {minutes} minutes longer than planned. #punctuality
    """,
    unseen_misses="""
    - The fare was debited two times although I bought one ticket only.
    = I bought first class by mistake, can you give me the difference back?
    = The airline owes us money for the flight that landed four hours behind schedule.
    - {almost_hour} behind schedule in {to}, it could have been worse. #punctuality
    - The machine swallowed my twenty and gave me neither ticket nor change.
    = I handed back an unused day pass and am waiting for the money.
    - The garage next to the station wanted 28 euros, who can afford that?
    = Are there discount vouchers for families?
    = We paid {cost} for a room in {to}, there was a trade fair.
    - The 8:05 was struck out, but the 8:20 got me there just as well. #train-cancellation
    - Arrival planned for 9:10, arrival in fact 9:55. #punctuality
    = I need a receipt for my tax return.
    """,
)
