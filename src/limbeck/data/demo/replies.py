"""Replies to the demo corpus' categories, in English and German, as a replies.toml to serve and to start from.

Praise counts as a mention, so a reply must fit whoever thanks as well as whoever complains.
"""

REPLIES = '''\
# Replies to what travellers write. Look for mistakes with: limbeck replies check replies.toml BUNDLE
languages = ["en", "de"]
most = 3

[category.passenger-rights]
priority = 30
title = {en = "Passenger Rights", de = "Fahrgastrechte"}
text.en = """
If you reached your destination an hour late or more, you can get back part of the fare: a quarter from 60 minutes on,
half from 120 minutes on.

You can claim it online with the number of your ticket. If you have claimed it already, you can see there how far we
are."""
text.de = """
Wenn Sie Ihr Ziel eine Stunde oder mehr zu spät erreicht haben, können Sie einen Teil des Fahrpreises zurückbekommen:
ein Viertel ab 60 Minuten, die Hälfte ab 120 Minuten.

Den Antrag stellen Sie online mit der Nummer Ihrer Fahrkarte. Falls Sie das schon getan haben, sehen Sie dort auch den
Stand der Bearbeitung."""
links.en = [
    {title = "Claim compensation", url = "https://www.example.org/en/passenger-rights/claim"},
    {title = "Your rights in brief", url = "https://www.example.org/en/passenger-rights"},
]
links.de = [
    {title = "Entschädigung beantragen", url = "https://www.example.org/de/fahrgastrechte/antrag"},
    {title = "Ihre Rechte in Kürze", url = "https://www.example.org/de/fahrgastrechte"},
]

[category.train-cancellation]
priority = 20
title = {en = "Train Cancellation", de = "Zugausfall"}
text.en = """
If your train does not run, you may take the next one with the same ticket, also a faster one. You can
have such changes sent to your phone as soon as we know of them."""
text.de = """
Fällt Ihr Zug aus, dürfen Sie mit derselben Fahrkarte den nächsten nehmen, auch einen höherwertigen. Auf Wunsch schicken
wir Ihnen solche Änderungen auf Ihr Telefon, sobald wir davon wissen."""
links.en = [{title = "Changes to your journey", url = "https://www.example.org/en/travel/changes"}]
links.de = [{title = "Änderungen Ihrer Reise", url = "https://www.example.org/de/reise/aenderungen"}]

[category.punctuality]
priority = 15
title = {en = "Punctuality", de = "Pünktlichkeit"}
text.en = """
Thank you for telling us how your train kept to time. We compare what travellers write with what we measure, and look
for the lines on which trains are late most often."""
text.de = """
Danke, dass Sie uns schreiben, wie pünktlich Ihr Zug war. Wir vergleichen, was Reisende berichten, mit unseren Messungen
und suchen die Strecken, auf denen Züge am häufigsten zu spät kommen."""
links.en = [{title = "How punctual our trains are", url = "https://www.example.org/en/punctuality"}]
links.de = [{title = "So pünktlich sind unsere Züge", url = "https://www.example.org/de/puenktlichkeit"}]

[category.luggage]
priority = 12
title = {en = "Luggage", de = "Gepäck"}
text.en = """
If you left something on the train, please tell the lost property office soon: it looks for it best within the first
days. How much luggage you may bring, and where it goes, is on our page about luggage."""
text.de = """
Falls Sie etwas im Zug vergessen haben, melden Sie es bitte bald dem Fundbüro: In den ersten Tagen sind die Aussichten
am besten. Wie viel Gepäck Sie mitnehmen dürfen und wohin es gehört, steht auf unserer Seite zum Gepäck."""
links.en = [
    {title = "Report something lost", url = "https://www.example.org/en/lost-property"},
    {title = "Travelling with luggage", url = "https://www.example.org/en/luggage"},
]
links.de = [
    {title = "Verlust melden", url = "https://www.example.org/de/fundbuero"},
    {title = "Reisen mit Gepäck", url = "https://www.example.org/de/gepaeck"},
]

[category.train-service]
priority = 10
title = {en = "Train Service", de = "Service im Zug"}
text.en = """
Thank you for your words about the people who work on our trains. We pass on praise as well as criticism to the team of
the train; the number of the train and the day help us to find it."""
text.de = """
Danke für Ihre Worte über die Menschen, die in unseren Zügen arbeiten. Lob geben wir ebenso weiter wie Kritik; mit
Zugnummer und Tag finden wir das richtige Team."""
links.en = [{title = "Tell us train and day", url = "https://www.example.org/en/contact/on-board"}]
links.de = [{title = "Zug und Tag angeben", url = "https://www.example.org/de/kontakt/im-zug"}]

[category.seat-availability]
priority = 8
title = {en = "Seat Availability", de = "Sitzplätze"}
text.en = """
How full a train is expected to be is shown with every connection. A reservation keeps a seat for you, and can be added
to a ticket until shortly before the train leaves."""
text.de = """
Wie voll ein Zug voraussichtlich wird, sehen Sie bei jeder Verbindung. Eine Reservierung hält Ihnen einen Platz frei;
sie lässt sich bis kurz vor der Abfahrt zur Fahrkarte hinzubuchen."""
links.en = [{title = "Reserve a seat", url = "https://www.example.org/en/reservation"}]
links.de = [{title = "Sitzplatz reservieren", url = "https://www.example.org/de/reservierung"}]

[category.wlan-internet]
priority = 6
title = {en = "WLAN / Internet", de = "WLAN / Internet"}
text.en = """
Thank you for telling us how the network on board worked. If a page for signing in does not open, it helps to switch the
WLAN of your device off and on again. We note the lines on which the connection is often lost."""
text.de = """
Danke, dass Sie uns schreiben, wie das Netz im Zug funktioniert hat. Öffnet sich die Anmeldeseite nicht, hilft es oft,
das WLAN am Gerät kurz aus- und wieder einzuschalten. Wir merken uns die Strecken, auf denen die Verbindung oft
abreißt."""
links.en = [{title = "Internet on board", url = "https://www.example.org/en/wlan"}]
links.de = [{title = "Internet im Zug", url = "https://www.example.org/de/wlan"}]

[category.temperature]
priority = 5
title = {en = "Temperature", de = "Temperatur"}
text.en = """
If a carriage is too hot or too cold, the staff on board can often change it, or show you to another carriage. What you
write reaches the workshop, which checks the air conditioning."""
text.de = """
Ist es in einem Wagen zu warm oder zu kalt, kann das Zugpersonal das oft ändern oder Ihnen einen anderen Wagen zeigen.
Was Sie schreiben, erreicht die Werkstatt, die die Klimaanlage prüft."""

[category.loudness]
priority = 4
title = {en = "Loudness", de = "Lautstärke"}
text.en = """
Long-distance trains have quiet areas, in which calls and loud talk are not welcome; you can choose one when you reserve
a seat."""
text.de = """
Fernzüge haben Ruhebereiche, in denen Telefonate und laute Gespräche unerwünscht sind. Bei der Reservierung können Sie
einen auswählen."""
links.en = [{title = "Quiet areas", url = "https://www.example.org/en/quiet-areas"}]
links.de = [{title = "Ruhebereiche", url = "https://www.example.org/de/ruhebereiche"}]

[category.seating-comfort]
priority = 3
title = {en = "Seating Comfort", de = "Sitzkomfort"}
text.en = """
Thank you for telling us how you sat. Such remarks count when seats are chosen for new trains. A seat that is broken is
repaired soonest if you tell us its number and its carriage."""
text.de = """
Danke, dass Sie uns schreiben, wie Sie gesessen haben. Solche Hinweise zählen, wenn Sitze für neue Züge ausgesucht
werden. Ein defekter Sitz wird am schnellsten repariert, wenn Sie uns Wagen und Platznummer nennen."""

[category.face-mask]
priority = 2
title = {en = "Face Mask", de = "Maske"}
text.en = "Whether masks must be worn on board is decided by law; our page always has the rule that holds today."
text.de = "Ob im Zug Masken zu tragen sind, entscheidet der Gesetzgeber; auf unserer Seite steht, was heute gilt."
links.en = [{title = "What holds today", url = "https://www.example.org/en/masks"}]
links.de = [{title = "Was heute gilt", url = "https://www.example.org/de/masken"}]

# Late, cancelled, and money lost: one form is enough for all of it.
[[rule]]
name = "compensation-disrupted"
when = ["punctuality", "train-cancellation", "passenger-rights"]
priority = 50
title = {en = "Compensation for your journey", de = "Entschädigung für Ihre Reise"}
text.en = """
A cancelled train and a late arrival on one journey are claimed together, in one form. What counts is how late you
reached your destination in the end.

Please keep receipts for a taxi or a hotel: you can add them to the form."""
text.de = """
Zugausfall und verspätete Ankunft auf einer Reise machen Sie gemeinsam geltend, mit einem Formular. Es zählt, wie spät
Sie Ihr Ziel am Ende erreicht haben.

Bitte bewahren Sie Belege für Taxi oder Hotel auf: Sie können sie dem Formular beilegen."""
links.en = [{title = "The compensation form", url = "https://www.example.org/en/passenger-rights/claim?for=both"}]
links.de = [
    {title = "Zum Entschädigungsformular", url = "https://www.example.org/de/fahrgastrechte/antrag?wegen=beidem"},
]

[[rule]]
name = "compensation-delay"
when = ["punctuality", "passenger-rights"]
unless = ["train-cancellation"]
priority = 40
title = {en = "Compensation for a delay", de = "Entschädigung bei Verspätung"}
text.en = """
If you were an hour late or more at your destination, you can get back a quarter of the fare, and half of it from two
hours on. The form takes about five minutes; you need your ticket and the day of the journey."""
text.de = """
Waren Sie eine Stunde oder mehr zu spät am Ziel, können Sie ein Viertel des Fahrpreises zurückbekommen, ab zwei Stunden
die Hälfte. Das Formular dauert etwa fünf Minuten; Sie brauchen Ihre Fahrkarte und den Reisetag."""
links.en = [{title = "The compensation form", url = "https://www.example.org/en/passenger-rights/claim?for=delay"}]
links.de = [
    {title = "Zum Entschädigungsformular", url = "https://www.example.org/de/fahrgastrechte/antrag?wegen=verspaetung"},
]

[[rule]]
name = "compensation-cancellation"
when = ["train-cancellation", "passenger-rights"]
unless = ["punctuality"]
priority = 40
title = {en = "Your money back after a cancellation", de = "Ihr Geld zurück nach einem Zugausfall"}
text.en = """
If your train was cancelled and you did not travel, you can get back the whole fare. If you had to pay for a taxi or a
hotel because of it, please send us the receipts with the form."""
text.de = """
Ist Ihr Zug ausgefallen und Sie sind nicht gefahren, können Sie den ganzen Fahrpreis zurückbekommen. Mussten Sie
deswegen Taxi oder Hotel bezahlen, legen Sie dem Formular bitte die Belege bei."""
links.en = [{title = "The refund form", url = "https://www.example.org/en/passenger-rights/claim?for=cancellation"}]
links.de = [{title = "Zum Erstattungsformular", url = "https://www.example.org/de/fahrgastrechte/antrag?wegen=ausfall"}]

[[rule]]
name = "disrupted"
when = ["punctuality", "train-cancellation"]
unless = ["passenger-rights"]
priority = 35
title = {en = "Delays and cancellations", de = "Verspätungen und Ausfälle"}
text.en = """
Thank you for telling us how your journey went. When trains are late or cancelled, the live view shows connections that
still work, and a ticket for one train then holds for others as well.

Should you have been an hour late or more in the end, you may be owed part of the fare."""
text.de = """
Danke, dass Sie uns schreiben, wie Ihre Reise verlaufen ist. Wenn Züge sich verspäten oder ausfallen, zeigt die
Live-Auskunft, welche Verbindungen noch klappen; eine Fahrkarte mit Zugbindung gilt dann auch in anderen Zügen.

Waren Sie am Ende eine Stunde oder mehr zu spät, steht Ihnen womöglich ein Teil des Fahrpreises zu."""
links.en = [
    {title = "Live view", url = "https://www.example.org/en/live"},
    {title = "Your rights in brief", url = "https://www.example.org/en/passenger-rights"},
]
links.de = [
    {title = "Live-Auskunft", url = "https://www.example.org/de/live"},
    {title = "Ihre Rechte in Kürze", url = "https://www.example.org/de/fahrgastrechte"},
]

# Stands beside the other replies: the reservation is paid back apart from the fare.
[[rule]]
name = "reservation-unused"
when = ["train-cancellation", "seat-availability"]
replaces = false
priority = 9
title = {en = "A reservation that could not be used", de = "Wenn die Reservierung nicht genutzt werden konnte"}
text.en = "If your reserved seat was not there because another train ran, or none, we pay back the reservation."
text.de = "Gab es Ihren Platz nicht, weil ein anderer Zug fuhr oder keiner, erstatten wir Ihnen die Reservierung."
links.en = [{title = "Get a reservation back", url = "https://www.example.org/en/reservation/refund"}]
links.de = [{title = "Reservierung erstatten lassen", url = "https://www.example.org/de/reservierung/erstattung"}]

[[rule]]
name = "full-train"
when = ["seat-availability", "luggage"]
priority = 14
title = {en = "Seats and room for luggage", de = "Platz für Sie und Ihr Gepäck"}
text.en = """
In full trains, room for luggage is scarce as well. Places near the luggage racks can be reserved, and large pieces can
be sent ahead to your destination. If something was left behind, the lost property office helps."""
text.de = """
In vollen Zügen ist auch der Platz für Gepäck knapp. Plätze nahe den Gepäckregalen lassen sich reservieren, und große
Stücke können Sie an Ihr Ziel vorausschicken. Ist etwas liegen geblieben, hilft das Fundbüro."""
links.en = [
    {title = "Reserve a seat", url = "https://www.example.org/en/reservation"},
    {title = "Send luggage ahead", url = "https://www.example.org/en/luggage/send"},
    {title = "Report something lost", url = "https://www.example.org/en/lost-property"},
]
links.de = [
    {title = "Sitzplatz reservieren", url = "https://www.example.org/de/reservierung"},
    {title = "Gepäck vorausschicken", url = "https://www.example.org/de/gepaeck/versand"},
    {title = "Verlust melden", url = "https://www.example.org/de/fundbuero"},
]

[[rule]]
name = "carriage"
when = ["temperature", "loudness"]
priority = 7
title = {en = "In your carriage", de = "In Ihrem Wagen"}
text.en = """
Thank you for telling us how it was in your carriage. The staff on board can often help with heat and cold at once, and
may know a quieter place. With the numbers of train and carriage, the workshop knows where to look."""
text.de = """
Danke, dass Sie uns schreiben, wie es in Ihrem Wagen war. Bei Hitze und Kälte kann das Zugpersonal oft gleich helfen,
und es kennt vielleicht einen ruhigeren Platz. Mit Zug- und Wagennummer weiß die Werkstatt, wo sie nachsehen muss."""
links.en = [{title = "Tell us train and carriage", url = "https://www.example.org/en/contact/on-board"}]
links.de = [{title = "Zug und Wagen angeben", url = "https://www.example.org/de/kontakt/im-zug"}]

[[rule]]
name = "masks-and-staff"
when = ["train-service", "face-mask"]
priority = 11
title = {en = "Masks, and those who look after the rule", de = "Masken und das Zugpersonal"}
text.en = """
Our staff look after the rule about masks that the law sets, and are asked to be friendly about it. We pass on what you
write to the team of the train."""
text.de = """
Unser Zugpersonal achtet auf die Maskenregel, die der Gesetzgeber vorgibt, und soll dabei freundlich bleiben. Was Sie
schreiben, geben wir an das Team des Zuges weiter."""
links.en = [{title = "What holds today", url = "https://www.example.org/en/masks"}]
links.de = [{title = "Was heute gilt", url = "https://www.example.org/de/masken"}]

[nothing]
title = {en = "Thank you for your message", de = "Danke für Ihre Nachricht"}
text.en = """
We could not match it to one of the topics that we can answer at once. A person reads it; if you would like an answer,
please write to us."""
text.de = """
Wir konnten sie keinem der Themen zuordnen, auf die wir gleich antworten können. Ein Mensch liest sie; wenn Sie eine
Antwort wünschen, schreiben Sie uns bitte."""
links.en = [{title = "Write to us", url = "mailto:travellers@example.org"}]
links.de = [{title = "Schreiben Sie uns", url = "mailto:reisende@example.org"}]

[unsure]
below = 0.55
title = {en = "Have we understood you?", de = "Haben wir Sie verstanden?"}
text.en = """
Your message seems to be about {topics}, but we are not sure. A person reads it; if it is urgent, please write to us
with the day and the number of your train."""
text.de = """
In Ihrer Nachricht geht es wohl um Folgendes: {topics}. Sicher sind wir nicht. Ein Mensch liest sie; wenn es eilt,
schreiben Sie uns bitte mit Reisetag und Zugnummer."""
links.en = [{title = "Write to us", url = "mailto:travellers@example.org"}]
links.de = [{title = "Schreiben Sie uns", url = "mailto:reisende@example.org"}]
'''
