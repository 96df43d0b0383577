from dataclasses import dataclass
@dataclass
class Run: pass
