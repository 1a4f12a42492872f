"""Wordings about wearing masks on board, for and against."""

from limbeck.data.demo.grammar import inventory

FACE_MASK = inventory(
    "face-mask",
    "Face Mask",
    seen="""
    - Many passengers [were not wearing|did not wear] a mask.
    - Nobody checks whether people wear their masks.
    - Half of the coach sat there without masks[ and nobody said a word|].
    - Masks under the nose or the chin everywhere.
    - Please enforce the mask rule[ in the regional trains|].
    - The mask requirement is ignored [by whole groups|by almost everyone].
    - Someone behind me coughed without a face mask.
    - I find it absurd that we still have to wear masks on the train.
    - The constant announcements about the mask rule get on my nerves.
    - Wearing an FFP2 mask for {hours} hours is too much for [asthmatics|old people|children].
    - A fellow passenger insulted me because I asked him to put on his mask.
    - Why do masks have to be worn here, but nowhere else?
    - The mask rule on the train is a joke if it is never checked.
    - Four men in {coach} took off their masks and laughed about it.
    + [Everyone|All passengers] wore [a mask|their masks] properly.
    + Good that you insist on the mask rule.
    + Free masks at the entrance, a good idea.
    + I am glad that masks are no longer compulsory.
    + Thank you for checking the masks, I felt safe.
    - The people around me had nothing over mouth and nose.
    - The person next to me pulled the mask down to talk on the phone.
    - My glasses mist up under the mask.
    - I cannot breathe with that thing over my nose for {hours} hours, end the mask rule.
    - Some hold a bottle in their hand all the way so that they need not wear a mask.
    - I was laughed at because I still wear a mask.
    + Nice to see smiling faces without masks again on the train.
    + Nose and mouth were covered everywhere, thanks to all who join in.
    - Many wear the mask without covering the nose.
    - Uncovered mouths and noses wherever I looked.
    + Everyone covered mouth and nose, I was not afraid of catching something.
    """,
    unseen="""
    - Bare faces all around me, although the sign on the door asks for something else.
    - The man opposite wore his FFP2 as a chin warmer.
    - A good third of the people had their noses uncovered.
    - With asthma I cannot breathe behind that FFP2 thing for {hours} hours.
    - Nobody in {coach} covers mouth and nose any more.
    - When will you do away with the duty to cover mouth and nose?
    - People nibble crisps for {hours} hours just to avoid covering their mouths.
    - My glasses fog up because mouth and nose must be covered.
    - People laughed at me because I was the only one with mouth and nose covered.
    - Covering mouth and nose seems to be voluntary on the {train}.
    - The rule about covering mouth and nose is on every poster, and nobody cares.
    + Every nose in the coach was covered, I felt safe.
    + Nice to see whole faces on the train again now that the covering rule is gone.
    + People kept mouth and nose covered without being told.
    + All travellers covered up properly, even the teenagers, so I was not afraid of catching anything.
    """,
    seen_short="""
    - No masks
    - Nobody wears a mask
    - No mask checks
    - Mask rule ignored
    - Masks under chins
    - Enforce the mask rule
    + Everybody wore a mask
    + No more masks, good
    """,
    unseen_short="""
    - Uncovered noses everywhere
    - Mouths and noses uncovered
    - FFP2 duty, away with it
    - Cover your noses, people
    + All noses covered
    """,
    seen_misses="""
    - The perfume in the toilet cannot mask the smell.
    = We travelled to the carnival in {to} in costumes and masks.
    + I put on my sleep mask and slept all the way to {to}.
    - The input mask for the address in your app has an error.
    = Someone had drawn a face on the dusty window.
    - Let us face it, your prices are too high.
    + The theatre masks in the museum of {to} were worth the trip.
    + My daughter had her face painted at the station festival.
    - Your press office only wants to save face.
    - The advertising is there to mask the price increase.
    = A clown with a rubber mask sold balloons at the station.
    + Snow covered the platform in {from}, a lovely picture.
    """,
    unseen_misses="""
    - Air freshener does not cover up the smell of the toilet.
    = We were on our way to a ball, in Venetian disguise.
    = I pulled my hat over my eyes and slept until {to}.
    - The graffiti covers half of the window.
    + The nose of the new train looks elegant.
    - My insurance does not cover the trip.
    = The diving mask I bought in {to} is a present for my niece.
    = My mother put on a brave face at the farewell on the platform.
    - The magazine covers everything except what travellers need to know.
    """,
)
