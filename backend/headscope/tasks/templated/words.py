"""Names and words that templates are filled with: common ones, a single token for most tokenizers."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


WOMEN = _words(
    "Mary Anna Susan Emma Laura Helen Alice Sarah Rachel Julia Linda Karen Nancy Carol Ruth Lucy Grace Diana "
    "Jane Martha Amy Kate Sophie Emily Claire Maria Rose Ellen Joan Judy Betty Megan Holly Lisa Olivia Hannah"
)
MEN = _words(
    "John David Peter Paul Mark Thomas James Robert Michael Daniel Henry Frank George Jack Simon Adam Martin "
    "Alan Steven Brian Kevin Eric Andrew Richard Edward Charles William Luke Oliver Jacob Philip Victor "
    "Patrick Roger Bruce Arthur"
)
PLACES = _words("store park school office library station market hospital garden museum beach theatre")
GIFTS = _words("drink book ring key ball card letter bag phone ticket flower basket")

OBJECTS = _words(
    "pen cup book ball box hat key bag lamp plate chair coat ring shoe bottle brush rope candle clock shirt "
    "bowl phone mirror towel"
)
COLOURS = _words("red blue green yellow black white orange purple pink brown gray silver")

NOUNS = _words(
    "river stone apple window paper garden bridge winter butter silver forest mountain letter summer doctor "
    "engine market chicken orange bottle island camera dinner guitar horse kitchen ladder mirror needle "
    "ocean pencil rabbit school table tiger tower valley village wagon water weather wheel yellow basket "
    "candle castle coffee copper corner cotton desert dragon eagle farmer finger flower hammer helmet jacket "
    "knife lemon metal monkey music palace planet pocket potato powder prince ribbon rocket saddle salad "
    "shadow sister soldier spider spring station sugar target temple thunder ticket tunnel turtle"
)
ARGUMENTS = _words(
    "file name path size text index count value user data list node page field group image label level line "
    "match message model option order parent point port query range result role root rule scale schema score "
    "source state step table target test time title token tree type unit url version view width"
)
EVENTS = _words("war trial journey project siege famine voyage drought campaign festival strike treaty")

WEEKDAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
MONTHS = _words("January February March April May June July August September October November December")
NUMBER_WORDS = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)

ADJECTIVES = {
    "big": "bigger", "small": "smaller", "tall": "taller", "short": "shorter", "long": "longer",
    "fast": "faster", "slow": "slower", "old": "older", "young": "younger", "new": "newer",
    "cold": "colder", "hot": "hotter", "warm": "warmer", "cool": "cooler", "high": "higher",
    "low": "lower", "strong": "stronger", "weak": "weaker", "hard": "harder", "soft": "softer",
    "loud": "louder", "quiet": "quieter", "rich": "richer", "poor": "poorer", "thick": "thicker",
    "thin": "thinner", "wide": "wider", "narrow": "narrower", "deep": "deeper", "shallow": "shallower",
    "bright": "brighter", "dark": "darker", "light": "lighter", "heavy": "heavier", "clean": "cleaner",
    "dirty": "dirtier", "happy": "happier", "sad": "sadder", "easy": "easier", "busy": "busier",
    "early": "earlier", "late": "later", "near": "nearer", "close": "closer", "cheap": "cheaper",
    "smart": "smarter", "wise": "wiser", "brave": "braver", "kind": "kinder", "nice": "nicer",
    "sweet": "sweeter", "sour": "sourer", "fresh": "fresher", "dry": "drier", "wet": "wetter",
    "safe": "safer", "rare": "rarer", "large": "larger", "huge": "huger", "tiny": "tinier",
    "pretty": "prettier", "ugly": "uglier", "simple": "simpler", "gentle": "gentler", "noble": "nobler",
    "sharp": "sharper", "blunt": "blunter", "smooth": "smoother", "rough": "rougher", "tight": "tighter",
    "loose": "looser", "full": "fuller", "fat": "fatter", "slim": "slimmer", "lazy": "lazier",
    "funny": "funnier", "angry": "angrier", "hungry": "hungrier", "thirsty": "thirstier",
    "sleepy": "sleepier",
    "healthy": "healthier", "wealthy": "wealthier", "lucky": "luckier", "friendly": "friendlier",
    "lonely": "lonelier", "lovely": "lovelier", "lively": "livelier", "dusty": "dustier", "muddy": "muddier",
    "cloudy": "cloudier", "rainy": "rainier", "sunny": "sunnier", "windy": "windier", "stormy": "stormier",
    "foggy": "foggier", "salty": "saltier", "spicy": "spicier", "tasty": "tastier", "juicy": "juicier",
    "crispy": "crispier", "greasy": "greasier", "messy": "messier", "tidy": "tidier", "shiny": "shinier",
    "plain": "plainer", "proud": "prouder", "rude": "ruder", "polite": "politer", "calm": "calmer",
    "mild": "milder", "firm": "firmer", "fine": "finer", "fair": "fairer", "great": "greater",
    "grand": "grander", "steep": "steeper", "flat": "flatter", "round": "rounder", "straight": "straighter",
    "pale": "paler", "blue": "bluer", "green": "greener", "red": "redder", "black": "blacker",
    "white": "whiter", "gray": "grayer", "quick": "quicker", "swift": "swifter", "tough": "tougher",
    "tender": "tenderer", "clever": "cleverer", "dull": "duller", "dense": "denser", "faint": "fainter",
    "fierce": "fiercer", "strange": "stranger", "weird": "weirder", "crazy": "crazier", "silly": "sillier",
    "sick": "sicker", "ripe": "riper", "raw": "rawer", "stiff": "stiffer", "strict": "stricter",
    "humble": "humbler", "pure": "purer", "sore": "sorer", "mean": "meaner", "lean": "leaner",
}  # fmt: skip
"""Adjectives and their comparatives in -er."""
