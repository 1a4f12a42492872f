"""Wordings about noise and quiet on board."""

from limbeck.data.demo.grammar import inventory

LOUDNESS = inventory(
    "loudness",
    "Loudness",
    seen="""
    - It was [much|far] too loud in the coach.
    - [Somebody|A man in a suit] made loud phone calls in the quiet zone[ all the way to {to}|].
    - The quiet coach was anything but quiet.
    - A [stag party|group of football fans] was shouting and singing next to us.
    - Children were screaming the whole way and the parents did nothing.
    - The announcements are far too loud[, my ears hurt|].
    - The noise in the train is unbearable[, especially near the doors|].
    - The air conditioning hums so loudly that you cannot [sleep|talk].
    - Loud music from a phone without headphones[, for {hours} hours|].
    - The wheels squeal terribly loudly in every curve.
    - The door rattled [without end|all the way], very noisy.
    - So noisy that I could not [work|read|concentrate].
    - Please enforce the rules of the quiet zone, people talk loudly there.
    - Because of the noise from the next table I did not get a minute of sleep.
    - The loud voices in {coach} were hard to bear for {hours} hours.
    - Please do something about noisy groups, others would like some quiet.
    + Very quiet [train|journey|coach], I could [work|sleep] in peace.
    + The quiet zone really was quiet[, lovely|].
    + The new trains run very quietly.
    + No noise and no loud phone calls, [wonderful|a dream].
    + It was so quiet that I fell asleep.
    + Thank you for the quiet zone, without noise I get a lot done.
    - A child cried from {from} to {via} and nobody calmed it.
    - Someone told his whole life story on the phone, at full volume.
    - There was a rattling and banging under the floor all the way.
    - A drunk group was roaring songs in {coach}.
    - My ears still hurt from the squealing brakes.
    - Somebody watched videos with the sound on.
    - Sleep was impossible with all that shouting around us.
    + Hardly a sound to be heard, I could read in peace.
    + Silence at last, thank you for the quiet coach.
    - What a noise in {coach}, like on a playground.
    - We all had to listen to a lady on the phone.
    + So silent that I could hear my own watch.
    """,
    unseen="""
    - The whole coach had to listen to a private quarrel on speakerphone.
    - You could not hear yourself think.
    - A club with a crate of beer bawled songs all the way.
    - Next to me a toddler howled until {via}.
    - The loudspeaker barked at us every five minutes, I nearly fell off my chair.
    - Something under the floor banged like a drum at every joint.
    - Earplugs should be handed out for free on this train.
    - A video game with the sound turned up, right behind me, for {hours} hours.
    - My head is splitting from the screeching of the brakes.
    - So much for the silent area, it was like a schoolyard at break time.
    - The chatter of thirty pupils made any work impossible.
    - The ventilation roared like a jet engine.
    - I now know the whole medical history of the lady on the telephone across the aisle.
    - I got off with ringing ears.
    - Somebody practised the trumpet, I am not making this up.
    + You could have heard a pin drop.
    + Peace and silence from {from} to {to}.
    + Not a sound in the whole coach, I slept like a baby.
    + The train glided along almost without a sound.
    + Even the babies were silent, what a peaceful ride.
    """,
    seen_short="""
    - Too loud
    - Noisy
    - So much noise
    - Loud phone calls
    - Quiet zone not quiet
    - Screaming children
    - Very noisy train
    + Nice and quiet
    + Quiet train
    + Pleasantly quiet
    """,
    unseen_short="""
    - Ears ringing
    - What a racket
    - Shouting all the way
    - Like a schoolyard
    - Screeching brakes
    + Blissful silence
    + Peaceful ride
    + Not a sound
    """,
    seen_misses="""
    - The colours of the new trains are a bit loud.
    - It has become quiet around the promised new line to {to}.
    - You have quietly raised the prices.
    - It was loud and chaotic on the platform at {from}.
    - The building site in front of the station is noisy.
    - The pattern of the curtains is too loud for my taste.
    = I travel at quiet times, when tickets are cheap.
    + A sound idea, the new family ticket.
    = I laughed out loud at your new poster.
    - My hotel in {to} was on a noisy street.
    - You make a lot of noise about the new timetable, but little changes.
    = I have to say it out loud: your app is [great|a mess].
    = Business was quiet today, so I went home early.
    = My phone rang at work, so I bought the ticket in a hurry.
    """,
    unseen_misses="""
    - There has been silence from your complaints department since {month}.
    = Fireworks kept us awake in {to}, so we set off rather tired.
    - The design of the new poster screams at you.
    - The drilling at the station entrance gave me a headache.
    = That offer sounds good, where can I book it?
    = The people in the flat above our holiday flat partied till dawn.
    + A peaceful little station, {via}, with roses on the platform.
    - The ticket gates at {from} beep like mad.
    - The bells of the cathedral in {to} woke us at six.
    """,
)
