"""Words of synthetic tables.

Entities are pairs of words (Anna Keller, Stone Harbor, Solar Kettle, Red Foxes), so a new entity
still consists of known words. Words that are also numbers or dates (May, June, one, second) are
left out, since they would count as numbers in the question.
"""


def _words(text: str) -> tuple[str, ...]:
    """Splits a text at white space."""
    return tuple(text.split())


FIRST_NAMES = _words("""
Adam Agnes Aisha Albert Alice Amir Amy Andrea Anna Anton Arthur Ashok Astrid Ben Bianca Boris
Brenda Bruno Carla Carmen Cecil Chen Clara Colin Daisy Daniel Dario David Diana Dmitri Donna
Edgar Elena Elias Emma Eric Esther Eva Fatima Felix Fiona Frank Gabriel George Gina Grace Greta
Hana Harold Hassan Helen Henry Hugo Ida Igor Imran Ingrid Irene Isaac Ivan Jack Jana Jasper Joan
Jonas Julia Karim Karl Kenji Kira Laila Lars Laura Leo Linda Louis Lucia Lukas Magda Marco Maria
Martin Maya Mehmet Miguel Mina Nadia Nina Nora Oleg Oliver Olivia Omar Oscar Paolo Paula Pedro
Peter Petra Rahul Raul Rita Robert Rosa Ruth Samir Samuel Sara Simon Sofia Stefan Susan Tara
Theo Thomas Tina Tomas Umar Vera Victor Walter Wanda Yara Yusuf Zoe
""")

LAST_NAMES = _words("""
Abbott Adler Ahmed Alvarez Baker Barros Bauer Becker Bennett Berg Blake Bosch Brandt Carter
Castro Chavez Cohen Conti Cooper Costa Cruz Dalton Davies Delgado Dietrich Doyle Dubois Eriksen
Evans Farrell Ferrari Fischer Fisher Flores Foster Franco Fuchs Garcia Gibson Gomez Grant Gruber
Hansen Harper Haas Hayes Hoffman Holm Huber Hughes Ivanov Jansen Jensen Kaiser Kapoor Keller
Khan Kim Klein Kovacs Kramer Kumar Lang Larsen Laurent Lehmann Leone Lindberg Lopez Lorenz
Mancini Marino Mason Meyer Mills Moreau Morgan Moretti Muller Murphy Nagy Nakamura Nielsen Novak
Olsen Ortiz Palmer Parker Patel Pavlov Pereira Popov Ramos Reyes Ricci Rivera Rossi Roth
Russo Santos Sato Schmidt Schulz Silva Singh Sokolov Stein Suzuki Tanaka Torres Tucker Turner
Vargas Vogel Wagner Walsh Weber Webster Wolf Yamada Zimmer
""")

PLACE_STARTS = _words("""
Amber Ash Aspen Birch Black Blue Bright Broad Brook Castle Cedar Chapel Clay Clear Cold Copper
Coral Crystal Deer Dry Eagle East Elm Fair Falcon Fern Flint Forest Glen Golden Granite Great
Green Grey Hawk Hazel High Hollow Holly Iron Ivory Jade Juniper Kings Lake Laurel Lime Little
Long Lower Maple Marble Mill Misty Moss New North Oak Old Olive Orchard Otter Pearl Pine Pleasant
Queens Quiet Raven River Rocky Rose Royal Saint Salt Sand Silver Snow South Spring Stone Sunny
Swan Tall Timber Upper Valley Walnut West White Wild Willow Winter Wood
""")

PLACE_ENDS = _words("""
Abbey Acres Bank Bay Beach Bend Bluff Borough Bridge Burn Canyon Cape Cliff Corner Cove Creek
Crest Cross Dale Down Edge Falls Farm Fell Field Ford Fork Garden Gate Grove Harbor Haven Heath
Heights Hill Inlet Island Junction Knoll Landing Lodge Manor Market Marsh Meadow Mesa Moor Mount
Park Pass Peak Point Pond Port Prairie Ranch Rapids Reach Ridge Rock Run Shore Springs Station
Summit Terrace Town Vale View Village Vista Water Way Well Woods
""")

PRODUCT_STARTS = _words("""
Active Aero Alpha Arctic Aqua Atlas Aurora Beta Bold Breeze Carbon Classic Cloud Comet Compact
Cosmo Delta Deluxe Digital Dream Dual Easy Echo Eco Edge Electric Elite Ember Ergo Express Fire
Flash Flex Fusion Galaxy Gamma Giant Glide Hyper Ideal Jet Jumbo Laser Light Lunar Magic Magna
Max Mega Metro Micro Mini Mobile Modern Neo Nova Omega Optima Orbit Pacific Pocket Polar Power
Prime Pro Pulse Pure Quick Rapid Rebel Retro Sierra Sigma Silent Sky Slim Smart Solar Sonic Spark
Speedy Star Storm Super Swift Terra Thunder Titan Trail Travel Turbo Ultra Urban Vector Vega Vita
Zen Zoom
""")

PRODUCT_ENDS = _words("""
Alarm Amplifier Backpack Basket Battery Bench Bicycle Blender Bottle Bowl Brush Bucket Cabinet
Camera Candle Carpet Chair Charger Clock Compass Cooker Couch Curtain Desk Drill Dryer Fan Filter
Flask Fridge Grill Guitar Hammer Headset Heater Helmet Jacket Juicer Kettle Keyboard Knife Ladder
Lamp Lantern Lens Lock Mattress Microphone Mirror Mixer Monitor Mouse Mug Oven Pan Pillow Plate
Printer Projector Pump Radio Razor Robot Router Rug Saw Scale Scanner Scooter Shelf Shovel Sofa
Speaker Stool Stove Stroller Table Tablet Tent Toaster Torch Tripod Trolley Umbrella Vacuum Vase
Wallet Watch Whistle Wrench
""")

TEAM_STARTS = _words("""
Albion Alpine Arena Atlantic Athletic Baltic Capital Central City Coastal Colonial County Cosmos
Crimson Crown Desert Diamond Dynamo Emerald Empire Estuary Frontier Glacier Gulf Harbour Highland
Horizon Imperial Inland Island Junction Lakeside Liberty Lowland Metropolitan Midland Monarch
Mountain National Noble Northern Oasis Ocean Olympic Orient Pioneer Plains Prairie Premier Racing
Rapid Regent Republic Riverside Riviera Rovers Sapphire Scarlet Seaside Southern Sporting Stadium
Standard Suburban Summit Sunset Tropic Union United Uptown Victory Viking Western Windy
""")

TEAM_ENDS = _words("""
Aces Archers Arrows Badgers Bandits Barons Bears Bees Bisons Blazers Bobcats Braves Broncos
Buccaneers Bulldogs Bulls Captains Cavaliers Chargers Chiefs Cobras Colts Comets Condors Cougars
Coyotes Crusaders Cubs Dolphins Dragons Drifters Eagles Falcons Flames Flyers Foxes Giants
Gladiators Goats Griffins Hawks Herons Hornets Huskies Jaguars Jets Kings Knights Lancers Legends
Leopards Lions Lynx Mariners Mustangs Otters Owls Panthers Patriots Pelicans Penguins Phantoms
Pilots Pirates Pumas Raiders Rams Rangers Ravens Rebels Rockets Royals Saints Scorpions Sharks
Spartans Stallions Stars Stingers Storks Swans Tigers Titans Trojans Vipers Warriors Wizards
Wolves Wombats Zebras
""")

CITIES = _words("""
Athens Berlin Boston Bremen Brussels Cairo Chicago Cologne Dallas Delhi Denver Dublin Geneva
Glasgow Hamburg Havana Helsinki Houston Istanbul Kyoto Leeds Lima Lisbon London Lyon Madrid
Manchester Marseille Melbourne Miami Milan Montreal Moscow Mumbai Munich Nairobi Naples Osaka
Oslo Ottawa Oxford Paris Perth Porto Prague Riga Rome Rotterdam Seattle Seoul Seville
Stockholm Sydney Tokyo Toronto Turin Venice Vienna Warsaw Zagreb Zurich
""")

COUNTRIES = _words("""
Argentina Australia Austria Belgium Bolivia Brazil Bulgaria Canada Chile China Colombia Croatia
Cuba Denmark Ecuador Egypt Estonia Ethiopia Finland France Germany Ghana Greece Hungary Iceland
India Indonesia Ireland Israel Italy Jamaica Japan Kenya Latvia Lithuania Malaysia Mexico Morocco
Nepal Netherlands Nigeria Norway Pakistan Panama Peru Poland Portugal Romania Senegal Serbia
Slovakia Slovenia Spain Sweden Switzerland Tanzania Thailand Tunisia Turkey Uganda Ukraine
Uruguay Vietnam Zambia
""")

JOBS = _words("""
accountant actor analyst architect artist author barber biologist butcher carpenter cashier chef
chemist clerk consultant dentist designer detective director driver editor electrician engineer
farmer firefighter florist gardener geologist guide janitor jeweler journalist judge lawyer
lecturer librarian mechanic miner musician nurse painter pharmacist photographer physicist pilot
planner plumber porter producer programmer reporter researcher sailor secretary soldier surgeon
surveyor tailor teacher technician trainer translator waiter weaver welder
""")

BRANDS = _words("""
Acme Altura Aven Bexa Bravia Calder Cirrus Corvo Dynex Elara Evora Faro Fenwick Halden Helio
Invar Jovian Kestrel Kinetic Kora Lumen Lyra Maxon Meridian Mirax Nimbus Norden Novex Ondas Orion
Pallas Quanta Quill Rexo Sable Sento Solano Strato Talon Tempo Tesser Triton Umbra Vanta Velox
Veritas Volta Westar Xenon Yonder Zephyr Zenith
""")

COLORS = _words("""
amber beige black blue bronze brown coral cream crimson gold green grey indigo ivory lavender
lilac lime magenta maroon mint navy olive orange peach pink plum purple red ruby silver tan teal
turquoise violet white yellow
""")

POSITIONS = _words("""
goalkeeper defender midfielder striker winger sweeper forward center guard captain fullback libero
setter pitcher catcher shortstop outfielder
""")

INDUSTRIES = _words("""
agriculture banking brewing ceramics cheese chemicals coal education electronics energy fashion
finance fishing forestry furniture glass leather logistics media mining music oil paper
pharmacy plastics publishing salt shipping silk software steel sugar telecom textiles timber
tobacco tourism trade wine wool
""")
