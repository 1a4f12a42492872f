"""What people put around the matter itself: greetings, openings, feelings, farewells and the course of a journey.

None of these lines may bear on one of the eleven topics, whatever it is put next to.
"""

GREETINGS = (
    "Hello,",
    "Hi,",
    "Good morning,",
    "Good evening,",
    "Dear Sir or Madam,",
    "Dear all,",
    "Dear railway,",
    "To whom it may concern,",
    "Hi there,",
    "Ladies and gentlemen,",
    "Good day,",
)

FAREWELLS = (
    "Kind regards {name}",
    "Regards, {name}",
    "Best wishes, {name}",
    "Yours sincerely {name}",
    "Best, {name}",
    "Greetings from {from}",
    "Many greetings, {name}",
    "Bye, {name}",
    "Yours, {name}",
    "With kind regards",
    "Cheers",
)

OPENINGS = (
    "On {weekday} I took the {train} from {from} to {to}.",
    "I travel from {from} to {to} [every day|three times a week|twice a month].",
    "I am writing about my journey from {from} to {to} on {weekday}.",
    "My trip on {weekday}, {from} to {to}:",
    "Just a [short|quick] note about the {train}.",
    "I have been a [regular|loyal] customer for [ten|twelve|twenty] years.",
    "As a [pensioner|student|nurse|teacher|commuter] I take the train a lot.",
    "We were travelling as a family of four from {from} to {to}.",
    "Yesterday I went to {to} to see my [sister|brother|daughter|parents].",
    "A few words about my ride in {coach}.",
    "You asked for my opinion, here it is.",
    "Feedback on the {train} of {weekday}.",
    "Where shall I begin?",
    "I rarely write such messages.",
    "I had a business trip to {to} on {weekday}.",
)

ANNOYED = (
    "[Really|So|Very] annoying.",
    "Please do something about it.",
    "That [must|has to] get better.",
    "I am [disappointed|fed up|at a loss].",
    "How hard can it be?",
    "Unbelievable.",
    "That is not how it should be.",
    "I expected more from you.",
    "Next time I will take the car.",
    "Not acceptable.",
    "I look forward to your answer.",
    "What is going on there?",
    "Is that so difficult?",
    "I am losing my patience.",
    "It cannot go on like this.",
    "A bad joke.",
    "Please pass this on.",
    "Is anyone reading this?",
)

PLEASED = (
    "Keep it up!",
    "Thank you!",
    "Many thanks.",
    "Gladly again.",
    "Well done.",
    "That is how it should be.",
    "I am [happy|satisfied|very pleased].",
    "I will recommend it.",
    "Praise where praise is due.",
    "Just wanted to say that.",
    "See you next time.",
    "More of that, please.",
)

EVEN = (
    "Otherwise I have nothing to add.",
    "That is all from me.",
    "Just so you know.",
    "Light and shade, then.",
    "So much for my trip.",
    "Please pass this on.",
)

# A story is told in this order: at home, on the way (with the matter in between), afterwards.
BEFORE = (
    "I had planned this journey for weeks, because my [niece|godson|cousin] was getting married in {to}.",
    "I bought the ticket in {month}, together with my [wife|husband|neighbour].",
    "I got up at five, made some sandwiches and walked the dog.",
    "My [brother|son|neighbour] drove me to the station in {from}.",
    "The walk to the station takes me a quarter of an hour, past the old mill and the church.",
    "In {from} I bought a newspaper and a pretzel.",
    "It was a grey [November|October|March] day with a little drizzle.",
    "The sun was just coming up over the fields when I reached {from}.",
    "I have been doing this trip since my daughter moved to {to} to study.",
    "My colleague and I wanted to go to a trade fair for garden tools.",
    "At the ticket machine I helped a tourist who had never seen such a thing.",
    "On the platform I met an old friend from school.",
    "I do not own a car, so the railway is the only way to get to {to}.",
    "My granddaughter had asked me for weeks whether we could go to the zoo in {to}.",
    "We changed in {via}, where the station smells of fresh bread.",
    "I had a crossword, a thermos flask and a good novel with me.",
    "The ticket was a present from my colleagues when I retired.",
)

DURING = (
    "Outside the hills went by, then the river and the vineyards.",
    "I read a few pages and did half of the crossword.",
    "Across from me a student was learning for her exam in chemistry.",
    "A little boy counted cows and gave each of them a name.",
    "We played cards and ate apples from our garden.",
    "Behind {via} one can see the castle on the right-hand side.",
    "My neighbour told me about her years as a baker in {from}.",
    "I looked out at the fields and thought of nothing at all.",
    "A young couple was planning a kitchen, with drawings and a folding rule.",
    "I wrote two postcards and looked for a stamp.",
    "Somewhere behind {via} two deer stood at the edge of a wood.",
    "I thought of my grandfather, who worked as an engine driver on this very line.",
    "The bridge over the valley is always worth a look.",
    "I solved three sudokus, a personal record.",
    "An old man showed me photos of his garden.",
    "I sorted my notes for the talk that I was going to give in {to}.",
    "My daughter drew a picture of a green elephant.",
    "Between two tunnels there is a small lake with a rowing boat.",
)

AFTER = (
    "In {to} my sister was standing on the platform with a bunch of flowers.",
    "In the evening we sat in the kitchen and talked about old times.",
    "In {to} I walked across the market to my hotel.",
    "The way back is planned for {weekday}, with the same route.",
    "I told my [husband|wife|brother] about it, and the answer was: write to them.",
    "My colleagues say that nobody reads these forms, but I wanted to try.",
    "I know that you have a lot to do, and I do not expect a long answer.",
    "I have told this to a few people and they nodded.",
    "Perhaps you can use these lines for your work.",
    "For my next journey I have already bought a ticket.",
    "You can reach me in the evenings, the number is in my customer account.",
    "I am 71 years old and have seen many trains in my life.",
    "Now I have written more than I wanted to.",
    "I hope that these lines reach the right desk.",
)

ADDING = ("Also, ", "Besides, ", "And ", "On top of that, ", "In addition, ")
TURNING_TO_PRAISE = ("On the other hand, ", "On the positive side: ", "At least ", "Still, ")
TURNING_TO_COMPLAINT = ("But ", "Only one thing: ", "On the downside, ", "However, ", "What I did not like: ")
