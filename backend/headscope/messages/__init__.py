"""What the web and workers say to each other, also in the API's own words. Loads no torch."""

from headscope.messages.accuracy import TaskAccuracyOut as TaskAccuracyOut
from headscope.messages.base import Schema as Schema
from headscope.messages.base import TokenOut as TokenOut
from headscope.messages.base import TypedArray as TypedArray
from headscope.messages.lab import MAX_TEXT as MAX_TEXT
from headscope.messages.lab import GatesIn as GatesIn
from headscope.messages.lab import GatesOut as GatesOut
from headscope.messages.lab import LabIn as LabIn
from headscope.messages.lab import NextToken as NextToken
from headscope.messages.lab import PatternsIn as PatternsIn
from headscope.messages.lab import PatternsOut as PatternsOut
