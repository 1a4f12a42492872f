"""Wordings about heat, cold, draughts and stuffy air on board."""

from limbeck.data.demo.grammar import inventory

TEMPERATURE = inventory(
    "temperature",
    "Temperature",
    seen="""
    - It was [freezing|ice] cold in {coach}.
    - The heating [did not work|was broken|was off] [all the way|the whole journey].
    - The air conditioning [had failed|was broken] and it was [unbearably|terribly] hot.
    - Far too hot in the train, at least {hot} degrees.
    - The air conditioning was set far too cold, everyone sat there in their coats.
    - A cold draught came [from the window|through the door] the whole time.
    - Why is the heating on full in the middle of [June|May]?
    - It was {cold} degrees in our coach[, in January|, with no heating at all|].
    - Much too warm, [I could hardly breathe|the children were bathed in sweat].
    - The temperature in {coach} was [unbearable|impossible].
    - One coach like a sauna, the next like a fridge, please check the air conditioning.
    - The ventilation blows ice-cold air onto your [neck|feet].
    - Stuffy air and heat [in the whole train|on the upper deck].
    - Please turn the heating [up|down], it is [not|no longer] bearable.
    - The cold in the train was so bad that I kept my coat on until {to}.
    - No air conditioning at {hot} degrees outside, that is dangerous for old people.
    - We were freezing, the heating only came on shortly before {to}.
    + Pleasant temperature in the train[ despite the heat outside|].
    + The air conditioning worked [perfectly|well][, although it was {hot} degrees outside|].
    + It was nice and warm in the train[ in spite of the frost|].
    + For once the coach was neither too hot nor too cold.
    + The heating worked well, we were warm all the way.
    - Everybody in {coach} was sweating and took off what they could.
    - I sat there with scarf and gloves and still shivered.
    - Our coach was an icebox.
    - Like in a greenhouse, not a breath of fresh air.
    - My feet were like ice by {via}.
    - Old people and babies suffered in the heat on board.
    + Outside snow, inside cosy warmth.
    + Pleasantly cool inside on such a hot day.
    - You could see your breath, that is how cold the coach was.
    - My shirt was wet with sweat.
    - We fanned ourselves with newspapers in the heat.
    - A woman nearly collapsed because of the heat in {coach}.
    - I would have needed a blanket, I was shivering all the way.
    """,
    unseen="""
    - I could see my own breath in the compartment.
    - My T-shirt was soaked by {via}.
    - We felt like chickens in an oven.
    - I had to borrow a blanket so that my teeth would stop chattering.
    - My fingers were so numb that I could hardly turn the pages.
    - Somebody must have mistaken our coach for a cold store.
    - Passengers were fanning themselves with [the timetable|old newspapers].
    - The radiator under the window roasted my legs and could not be turned off.
    - The fan blew at my head like a winter storm.
    - An elderly lady nearly fainted in the tropical air.
    - A freezer in winter and a greenhouse in summer, that is what your coaches are.
    - Sweat ran down my back and no window could be opened.
    - I wore hat, scarf and gloves until {to}, indoors as it were.
    - The chocolate for my grandchildren melted on board.
    - After ten minutes in there everybody was dripping.
    - I shivered from {from} to {via} and now I am in bed with a fever.
    + Cool inside while the tarmac was melting outside.
    + Cosy inside while it snowed outside.
    + The climate in the coach was just right, I needed neither jacket nor fan.
    + A refreshing breeze from the vents, just what we needed in August.
    """,
    seen_short="""
    - Too cold
    - Too hot
    - Heating broken
    - No air conditioning
    - Freezing cold
    - Like a sauna
    - Air conditioning broken
    - Hot and stuffy
    - Far too warm in here
    + Pleasant temperature
    + Nice and warm
    """,
    unseen_short="""
    - Fridge on wheels
    - Shivering since {via}
    - Sweating since {via}
    - An oven
    - Teeth chattering in {coach}
    - Radiator cannot be turned off
    + Nice climate inside
    """,
    seen_misses="""
    - The reception at the information desk in {from} was rather cold.
    + We got a warm welcome from the train crew. #train-service
    - The coffee from the kiosk [at {from}|on the platform] was cold.
    = I had a heated discussion about politics with my neighbour.
    + The app is really cool.
    = In {month} I had a cold and stayed at home, so one ticket was not used.
    - Your special offers leave me cold.
    = The new timetable is a hot topic in our office.
    - It was pouring with rain and freezing on the platform at {from}.
    + The hot soup in the station restaurant was tasty.
    = It was cold and dark outside when I set off.
    - The hot chocolate machine at {from} only takes coins.
    + A warm-hearted stranger lent me the money for the ticket.
    - The toilet had no warm water.
    = We sweated on our hike around {to} and swam in the lake.
    """,
    unseen_misses="""
    - The guard was frosty and never once smiled. #train-service
    - My soup from the station bakery was lukewarm.
    = We chilled on the grass in front of the station before we left.
    = A man lost his cool because the ticket machine would not take his card.
    - The price of the ticket gave me the shivers.
    = We were on our way to the hot springs near {to}.
    + The ice cream stand in {to} is new and lovely.
    = A summer evening on the terrace in {to}, that was worth the trip.
    - You let me down and then fob me off with a lukewarm standard letter.
    """,
)
