"""Wordings about running to time: delays, early arrivals, missed connections.

Delays of an hour or more belong to Passenger Rights, so none is written here.
"""

from limbeck.data.demo.grammar import inventory

PUNCTUALITY = inventory(
    "punctuality",
    "Punctuality",
    seen="""
    - Our train left {from} {minutes} minutes late[ again|, as usual|].
    - The {train} was delayed by {minutes} minutes[, for the second time this week|].
    - [Delayed|Late] again this morning, {minutes} minutes[ this time|].
    - The delay kept growing: first five, then ten, then [twenty|twenty-five] minutes.
    - Because of the delay I missed my connection in {via}.
    - We reached {to} with a delay of {minutes} minutes.
    - I commute [every day|four days a week] and the {time} is late at least twice a week.
    - A delay of {minutes} minutes on [such a short route|a trip of half an hour] is [simply too much|hard to accept].
    - The train is never on time[, and I really mean never|].
    - I missed the [connecting train|bus home|onward train] because your train was late.
    - The train stood outside {via} for {minutes} minutes, so we were late.
    - The timetable says one thing, but in reality it [always|nearly always] leaves ten minutes later.
    - [Signal failure|Points failure|Engineering works] near {via}, so another {minutes} minutes of delay.
    - Can you explain why the {train} is delayed on [most|almost all] [Fridays|Mondays]?
    - Delays on this line have become [normal|the rule|part of everyday life].
    - We left on time, but shortly before {via} we picked up {minutes} minutes of delay.
    - Late for [work|school|my shift|my appointment] once more because the {time} was delayed.
    - Please do something about the constant delays [between {from} and {to}|in the morning].
    - First a late departure, then a stop on the open line, {minutes} minutes of delay in total.
    - I have stopped promising anyone when I will be home, the train is late anyway.
    - My boss no longer believes me when I come in after nine and blame the train.
    - Punctuality on this line is [a disaster|worse than ever|a lottery].
    - The connection in {via} never works because the first train is always a few minutes late.
    + The train was [perfectly|absolutely] punctual[, thank you|].
    + Departed on time, arrived on time[, what more could I want|].
    + We even arrived [three|four|five] minutes early[ in {to}|].
    + Punctual to the minute[, even with a change in {via}|].
    + For once no delay at all [on the way to {to}|between {from} and {to}].
    + Despite the [snow|storm|building works] the train was on time.
    + All [three|four] of my trains this week were on time.
    + The connection in {via} worked because both trains were punctual.
    + I was afraid of delays, but everything ran on time.
    + The driver made up for the delay and we were in {to} on time.
    + You can set your watch by this train.
    - The train came in after its time once more and I had to run.
    - We waited on the open track for {minutes} minutes before the train moved on.
    - My next train did not wait in {via}, ours was too late.
    - I was supposed to be in {to} by nine and it was twenty past.
    - My connecting train left before my eyes because we came in late.
    - Your plan and reality are two different things, ten minutes apart at least.
    - I always take one train earlier because I cannot rely on the timetable.
    + Everything went exactly according to the timetable.
    + In {to} a few minutes before time, very good.
    + Reliable to the minute, this line.
    - The 6:20 left at 6:41 today.
    - I had to run in {via} and the train was gone, because we came in late.
    - Dinner was over when I got home, thanks to the late train.
    + We were there at exactly the planned time.
    + We arrived a little early and I had time for a coffee.
    """,
    unseen="""
    - We crawled into {to} a good [twenty|twenty-five] minutes after the moment printed on my ticket.
    - When the doors finally opened in {to}, we should have been there half an hour before.
    - My onward train had pulled out two minutes before we rolled in.
    - By the time we got moving, the meeting had already begun without me.
    - The 7:10 rolled in at 7:34 [today|this morning], and yesterday it was no better.
    - We sat motionless in the middle of a field for {minutes} minutes while my lift waited in {to}.
    - Whoever plans a change of less than twenty minutes on this line is an optimist.
    - Another evening when dinner was cold by the time your train got me home.
    - We dawdled behind a goods train the whole way and the schedule was gone.
    - I saw the rear lights of my next train in {via}, because we had got in behind schedule.
    - {minutes} minutes behind plan at {via}, and [nothing was made up|it did not get better] after that.
    - The number on the display went from plus five to plus [twenty|thirty] while we watched.
    - Your schedule is a [work of fiction|fairy tale].
    - I now take the train before the one I need, just to be safe.
    - The train dragged itself from red signal to red signal and my class had started when I got there.
    - It is [the third time|the second time] in a row that I had to run in {via} and still saw the train pull out.
    - We were held before every second station and lost {minutes} minutes.
    - The departure was pushed back three times, by {minutes} minutes in all.
    + Pulled in on the dot, I was impressed.
    + We rolled into {to} exactly when the plan said we would.
    + The train kept to the schedule the whole way[ despite the storm|].
    + Bang on schedule, all [four|five] legs of the trip.
    + Got to {to} a little ahead of plan and had a moment to spare.
    + Not a single minute was lost on the way.
    + Left when it should and got there when it should.
    + I made my tight change in {via} because we came in exactly as planned.
    """,
    seen_short="""
    - Nothing but delays
    - Late again
    - Always late
    - Delay of {minutes} minutes
    - {minutes} minutes late
    - Punctuality is terrible
    - Missed my connection
    - Too many delays
    - Delayed [once more|today as well]
    - Late [in {to}|from {from}]
    + Punctual
    + On time
    + No delay
    + Very punctual train
    + Train was on time
    """,
    unseen_short="""
    - Behind schedule yet again
    - Onward train gone
    - Not once on schedule
    - Running {minutes} minutes behind
    - Schedule not kept
    - Still standing outside {via}
    - {minutes} minutes behind plan in {to}
    - Left after the appointed time
    + Right on the dot
    + Ahead of plan
    + There when it should be
    + Kept to the schedule
    """,
    seen_misses="""
    = My [taxi|bus] to the station was late, but I still caught the train.
    = I was late myself[, my own fault|] and had to run along the platform.
    = My flight was delayed, so I was glad that my ticket was flexible.
    - I was delayed by the queue at the ticket machine and had to buy my ticket in the app.
    - Your reply to my letter from {month} came [four weeks|a month] late.
    - The railcard you sent arrived with a delay of two weeks.
    = Sorry for the late feedback, I was on holiday.
    - It is about time the [app|website] got a search that works.
    - The app reacts with a long delay every time I tap on a fare.
    = Please show the connection to the [tram|ferry] in the app as well.
    = My daughter was late for kindergarten because the tram broke down.
    - Late in the evening the station is badly lit.
    - The timetable poster at {from} is torn and hard to read.
    - The invoice for {month} was sent too late, please send invoices on time.
    = I spent my time on the way to {to} reading the paper.
    """,
    unseen_misses="""
    = The plane landed two hours behind schedule, but that is hardly your fault.
    = The tram to the station crawled through the traffic and I just made it.
    = I overslept and therefore took the second train, nobody to blame but me.
    - Your hotline kept me waiting for {minutes} minutes.
    = The new schedule of the ferry should be printed in your leaflet as well.
    = My watch runs ten minutes behind, I nearly did not board at all.
    - Your answer took three weeks and then it was a standard letter.
    - At that late hour the kiosk was shut.
    - The refurbishment of {from} station is years behind plan.
    - The postman brought the tickets two days after they were promised.
    = My parents were stuck in a jam on the motorway, so nobody met me in {to}.
    """,
)
