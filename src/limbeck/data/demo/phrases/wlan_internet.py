"""Wordings about the internet on board."""

from limbeck.data.demo.grammar import inventory

WLAN_INTERNET = inventory(
    "wlan-internet",
    "WLAN / Internet",
    seen="""
    - The WiFi [did not work|kept dropping|was out of order][ in {coach}| all the way|].
    - [WLAN|WiFi] on the train does not work[ again|].
    - The internet connection on board is [terribly|unbelievably] slow.
    - The WiFi disconnects every [two|five] minutes.
    - No internet between {from} and {via}.
    - I could not log in to the WiFi[ of the {train}|].
    - WiFi so slow that not even an email loads.
    - The hotspot on the train asks me to log in again and again.
    - How is one supposed to work on the train without internet?
    - WiFi is advertised on the door, but there is none.
    - The data volume of the WiFi is used up after ten minutes.
    - No WiFi in regional trains, [in this day and age|really]?
    - My video call broke off [four|five] times because of the bad internet on the train.
    - The WLAN shows full strength, but no page loads.
    - Please fix the WiFi, I need internet for my work on the way.
    - WiFi only works in first class, in {coach} there is no connection.
    + The WiFi worked [perfectly|surprisingly well][ from {from} to {to}|].
    + Fast internet [on board|all the way], great for working.
    + Stable WLAN, even in the tunnels.
    + Free WiFi for everybody, [great|thank you].
    + The internet was fast enough for a video call.
    - I cannot send a single email from this train.
    - Websites do not load and messages do not go out, for {hours} hours now.
    - Mobile reception is gone after every tunnel.
    - I wanted to work online on the way and had to give up.
    - The connection to the network in the train breaks off all the time.
    - My laptop says connected, but no data arrives on this train.
    + I watched films all the way without a break, the WiFi is that good.
    + I sent all my emails from the train without any problem.
    - No online meeting is possible on this train, I get thrown out every time.
    - No reception on my phone as soon as we leave the city.
    - My emails did not go out, they stayed on the laptop all the way.
    + I could stream music and films on the way.
    + Online from start to finish, very good.
    """,
    unseen="""
    - The browser only shows a spinning wheel, not one page opens on board.
    - I was offline from {from} to {to}.
    - Not one bar of reception on half of the route, and the network on board is no help.
    - Streaming in the train is out of the question, the picture freezes after three seconds.
    - The sign-in page of the network on board never appears on my laptop.
    - My mails sat in the outbox from {from} to {to}.
    - Uploading one photo took from {from} to {via}.
    - Your network shows up on my phone, but nothing gets through.
    - The router in {coach} seems to be dead.
    - I had to use up my own mobile data, because nothing else got through on board.
    - I was thrown out of the online meeting at every tunnel.
    - The signal on my phone drops each time the train leaves a town.
    - My home office on rails failed because the network was down.
    + I streamed a film on the train without one hiccup.
    + I was online the whole way and got all my mails done.
    + I downloaded a huge file in seconds, in a moving train.
    + The chat with my parents on the tablet held from {from} to {to}.
    + My kids could stream cartoons all the way, a blessing.
    """,
    seen_short="""
    - No WiFi
    - WLAN does not work
    - Slow internet
    - WiFi broken again
    - WiFi too slow
    - No internet since {via}
    + Good WiFi
    + Internet works
    + WiFi great
    + Fast WLAN
    """,
    unseen_short="""
    - Offline again
    - No signal on board
    - Nothing loads in {coach}
    - Network down
    - Cannot get online
    + Online all the way
    + Streaming works
    + Good reception on board
    """,
    seen_misses="""
    = I bought the ticket on the internet.
    + The WiFi in our hotel in {to} was better than mine at home.
    = My internet at home was down, so I bought the ticket at the machine.
    - Your website is slow and full of adverts.
    - The connection from {from} to {to} should be shown first in the search.
    = I read on the internet that [the fares will rise|the station will be rebuilt].
    - Free WiFi in the station café, but the coffee is awful.
    - The online ticket could not be saved to my new phone.
    = A direct connection to {to} would be great.
    - I cannot log in to my customer account since the update.
    - The socket had no power, so I could not charge my laptop.
    - Internet prices and counter prices should be the same.
    = There is no connection by bus from {via} station to the lake.
    - I cannot send you an email because the contact form rejects my address.
    """,
    unseen_misses="""
    + The library in {to} has a very fast network, I worked there all day.
    - The search in your app spins for ages before it shows a fare.
    - My phone battery was empty, so I could not show the ticket.
    + The bus network in {to} is excellent.
    = I watched the match on my sofa at home before I left.
    + The old signal on platform 2 is a beauty, I took a photo.
    - Online you are told one price and at the counter another.
    - The website signs me out each time I choose a fare.
    = I wrote this mail on my sofa, a day after the trip.
    """,
)
