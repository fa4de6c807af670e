"""The phrases by which people make standing demands, by language.

A demand is a sentence that says what to do, or never to do, from now on; a correction is one too. What
is asked for once (the task) is not, nor is a remark, a question, or a report of what went wrong.
"""

import re
from functools import cache
from typing import TypeAlias

from hame.base.memory import ConstraintKind

Rule: TypeAlias = tuple[ConstraintKind, str]

_NEVER, _ALWAYS, _USE, _LIMIT, _CORRECTION = (
    ConstraintKind.NEVER,
    ConstraintKind.ALWAYS,
    ConstraintKind.USE,
    ConstraintKind.LIMIT,
    ConstraintKind.CORRECTION,
)

_ENGLISH: tuple[Rule, ...] = (
    (_CORRECTION, r"^(?:no|nope|wrong|again|stop)\b[,:.!]? .*\b(?:i (?:said|told|asked)|don't|do not|use|not)\b"),
    (_CORRECTION, r"\bi (?:already |just |clearly |explicitly )?(?:said|told you|asked you|asked for)\b(?!.*\?)"),
    (_CORRECTION, r"^(?:please |and |also |just )*stop \w+ing\b"),
    (_CORRECTION, r"\b(?:that's|this is|that is) (?:not what i (?:asked|wanted|meant)|wrong)[,:;.-]+ .*\b(?:use|should|must|instead)\b"),
    (_NEVER, r"\bnever (?!mind\b|seen\b|saw\b|had\b|heard\b|worked\b|works\b|ran\b|runs\b|returns\b|happens\b|gets\b|terminates\b|was\b|been\b|is\b|know\b|knew\b|tried\b|used to\b|reached\b|called\b|again saw\b|completes\b|finishes\b)"),
    (_NEVER, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|but|and|so|just|ever|also) )(?:please )?(?:do not|don't|dont) (?:ever )?(?!worry|you\b|think\b|mind\b|know\b|understand\b|see\b|get\b|care\b|hesitate|bother\b|have\b|want\b|like\b|need\b|remember\b|work\b|we\b|they\b|i\b|seem\b|pass\b|match\b|exist\b|forget\b)\w+"),
    (_NEVER, r"\b(?:you )?(?:must|may|should|shall)(?: not|n't)\b(?!.*\?)(?= (?:be |ever )?(?:touch|chang|modif|edit|delet|remov|add|use|commit|push|run|log|contain|exceed|break|install|writ|depend|import|go|leave|call|rename|block|reformat|skip|creat|mention|make|introduc))"),
    (_NEVER, r"\b(?:off[ -]limits|hands off|is forbidden|are forbidden|not allowed to|under no circumstances|no matter what)\b"),
    (_ALWAYS, r"^(?:please |and |also |but |so )*(?:do not|don't|dont|never) forget to\b.*\b(?:every|each|always|whenever|before|after|when)\b"),
    (_ALWAYS, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|and|but|should|must|to) )always (?!been\b|was\b|fail|return|work|the case|is\b|are\b|has\b|get)\w+"),
    (_ALWAYS, r"\b(?:from now on|from here on|going forward|for the rest of (?:this|the)|in (?:the )?future,|henceforth|every time you|each time you|whenever you|after every (?:change|edit|step)|after each (?:change|edit|step)|before (?:every|each) (?:commit|change|push|edit))\b"),
    (_ALWAYS, r"\b(?:all|every|each|any)\b[^.?]*\b(?:must|needs? to|has to|have to|should)\b(?!.*\?)"),
    (_ALWAYS, r"^(?:please |also |and )*(?:make sure|ensure|be sure)\b.*\b(?:every|each|always|all|any|stay|stays|remain|remains|keep|keeps|still|never|before|backward|compatible|no)\b"),
    (_ALWAYS, r"\b(?:ask me|check with me|tell me|show me)\b.*\b(?:before|first)\b"),
    (_ALWAYS, r"^(?:please )?remember(?: that| to)?[,:]? (?!when\b|how\b).*\b(?:must|should|always|never|only|not|don't|use|we)\b"),
    (_ALWAYS, r"\b(?:answer|reply|respond|write|comment)\w* (?:to me )?(?:only )?in (?:english|german|french|spanish|italian|british|american)\b"),
    (_USE, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|and|but|always|should|must|so) )use (?:only )?[^.?]*(?:\binstead\b|\brather than\b|, not\b|\bnot\b|\bonly\b|\beverywhere\b|\bthroughout\b|\bfor (?:all|every|any|each)\b|\bin (?:all|every)\b)"),
    (_USE, r"^(?:please |also |and )*use (?:tabs|spaces|single quotes|double quotes|british|american|snake_case|camelcase|type hints|\w+ spaces|\w+ for (?:tests?|testing|formatting|logging|dates|dependencies|everything|packages))\b"),
    (_USE, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|i|we|and) )(?:strongly )?prefer \w+"),
    (_USE, r"\bstick (?:to|with)\b|\bwe (?:only |always |don't |do not |never )(?:use|support|allow|write|commit|ship|target)\b"),
    (_LIMIT, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|and|but|you may|you can|should) )only (?:ever )?(?:touch|chang|modif|edit|use|work|writ|read|run|add|look|commit|import|support)\w*"),
    (_LIMIT, r"\b(?:touch|change|modify|edit|do) (?:nothing|no(?:thing)? (?:else|other))\b|\bnothing (?:else|outside)\b"),
    (_LIMIT, r"^(?:and |but |also |please )*no (?:new |more |extra |external |third[- ]party |additional |unnecessary |global |inline )?\w+(?: \w+){0,4}(?:,? please| anywhere| at all|, ever| allowed| in (?:the |this |my )?\w+)?[.!]?$"),
    (_LIMIT, r"\bno (?:new|extra|external|third[- ]party|additional) (?:dependenc|librar|package|file|import|framework|feature)\w*"),
    (_LIMIT, r"\bwithout (?:adding|changing|touching|breaking|modifying|using|installing|renaming|introducing)\b"),
    (_LIMIT, r"(?:^|[,;:\u2014\u2013-] |\b(?:please|and|but) )(?:leave|keep) [^.?]*\b(?:alone|as is|as it is|as they are|untouched|unchanged|intact|stable|compatible|below|under|at most|short|small|green|in sync|out of|python 3)\b"),
    (_LIMIT, r"\b(?:at most|no more than|no longer than|not exceed|must not be longer|maximum of|max(?:imum)?) \d+"),
)  # fmt: skip

_GERMAN: tuple[Rule, ...] = (
    (_CORRECTION, r"^(?:nein|falsch|stopp?|halt|nochmal|noch einmal)\b[,:.!]? .*\b(?:gesagt|nicht|kein\w*|statt|sollst|nimm|benutz\w*|verwende)\b"),
    (_CORRECTION, r"\b(?:ich|wie) (?:habe?|hatte)?\s?(?:dir |doch |schon |ja |ausdrücklich |bereits )*(?:gesagt|gebeten)\b|\bich (?:habe?|hatte) (?:dir |doch |schon |ja |ausdrücklich |bereits )*.*\b(?:gesagt|gebeten)\b"),
    (_CORRECTION, r"\bhör(?:e)? (?:bitte )?(?:endlich )?(?:auf|damit auf)\b"),
    (_NEVER, r"\b(?:nie|niemals|nie wieder|keinesfalls|auf keinen fall|unter keinen umständen|nirgends|nirgendwo)\b(?!.*\b(?:funktioniert|gesehen|gehört|erreicht|aufgerufen|gelaufen|passiert|zurück|fertig|war|hatte|ging)\b)"),
    (_NEVER, r"^(?:und |aber |bitte |also |auch )*(?:\w+e?) (?:bitte |mir |uns |hier |dort |da |dabei |jetzt |also )*(?:(?:die|den|das|der|dem|an|am|im|in|auf|von) [^.?]{1,60} )?(?:nicht|nichts|kein|keine|keinen|keinerlei)\b(?!.*\?)(?<!ist nicht)(?<!geht nicht)"),
    (_NEVER, r"\b(?:darf|dürfen|darfst|soll|sollst|sollen|sollte|sollten)\b[^.?]*\b(?:nicht|kein\w*|nichts)\b(?!.*\?)|\b(?:tabu|verboten|finger weg)\b"),
    (_ALWAYS, r"\b(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|zukünftig|jedes mal|jedesmal|nach jeder änderung|nach jedem schritt|vor jedem (?:commit|push)|vor jeder änderung|grundsätzlich|stets)\b"),
    (_ALWAYS, r"\bimmer\b(?! noch| wieder (?:der|die|das|ein|fehl)|hin)(?!.*\b(?:fehler|schlägt|abst|kaputt|langsamer|zurück)\b)(?!.*\?)"),
    (_ALWAYS, r"\b(?:alle|jede[rs]?|sämtliche)\b[^.?]*\b(?:muss|müssen|soll|sollen|sollte|sollten)\b(?!.*\?)"),
    (_ALWAYS, r"\bfrag\w* (?:mich|erst|vorher|bitte)\b|\b(?:achte|stell\w* sicher|sorge dafür|pass auf|denk\w* daran|vergiss nicht)\b[^.?]*\b(?:dass|immer|darauf|zu)\b"),
    (_ALWAYS, r"\b(?:antworte?|schreib\w*|kommentier\w*) [^.?]*\bauf (?:deutsch|englisch|französisch|spanisch)\b"),
    (_USE, r"\b(?:benutze?|verwende|nimm|nutze)\b[^.?]*\b(?:statt|anstatt|anstelle|nicht|nur|überall|ausschließlich|für alle|durchgehend)\b(?!.*\?)"),
    (_USE, r"^(?:bitte )?(?:benutze?|verwende|nimm|nutze) (?:bitte )?(?:tabs|leerzeichen|einfache anführungszeichen|doppelte anführungszeichen|\w+ für (?:tests?|die tests|alles|formatierung|logging|datumsangaben))\b"),
    (_USE, r"\bbevorzug\w*\b|\bbleib\w* (?:bitte )?bei\b|\bhalte? dich an\b|\bwir (?:benutzen|verwenden|nutzen|unterstützen|committen) (?:nur|immer|kein\w*|hier|ausschließlich)\b"),
    (_LIMIT, r"^(?:und |aber |bitte )*(?:ändere|bearbeite|fass\w*|schreib\w*|arbeite|lies|lese) (?:bitte )?(?:nur|ausschließlich|lediglich)\b|\bnur (?:in|an|im|am) [^.?]* (?:ändern|arbeiten|schreiben|anfassen)\b|\bsonst nichts\b|\bnichts (?:anderes|sonst|außerhalb)\b"),
    (_LIMIT, r"\bkeine? (?:neuen?|weiteren?|zusätzlichen?|externen?|globalen?|fremden?) \w+|^(?:und |aber |bitte |auch )*keine? \w+(?: \w+){0,4}[.!]?$"),
    (_LIMIT, r"\bohne\b[^.?]*\bzu (?:ändern|verändern|brechen|benutzen|verwenden|installieren|löschen)\b|\bohne neue\b"),
    (_LIMIT, r"\b(?:lass|lasse|halte?)\b[^.?]*\b(?:in ruhe|unverändert|wie sie (?:ist|sind)|wie (?:er|es) ist|so wie|kompatibel|stehen|unangetastet|kurz|klein)\b"),
    (_LIMIT, r"\b(?:höchstens|maximal|nicht mehr als|nicht länger als) \d+"),
)  # fmt: skip

_FRENCH: tuple[Rule, ...] = (
    (_CORRECTION, r"^(?:non|faux|stop|encore une fois)\b[,:.!]? .*\b(?:dit|demandé|pas|plutôt|utilise\w*)\b"),
    (_CORRECTION, r"\b(?:je t'ai|je vous ai|j'ai|j'avais) (?:déjà |bien |pourtant )*(?:dit|demandé|précisé)\b(?!.*\?)|\b(?:arrête|arrêtez|cesse|cessez) de?\b"),
    (_NEVER, r"\bjamais\b(?!.*\b(?:vu|marché|fonctionné|entendu|eu|été|atteint|appelée?|terminée?|arrivée?|revenue?)\b)(?!.*\?)"),
    (_NEVER, r"(?:^|[,;:\u2014\u2013-] |\b(?:et|mais|donc|surtout|merci de|prière de|svp) )(?:s'il te plaît,? |stp,? )?(?:ne |n')(?:me |le |la |les |l'|nous )?(?!t'inquiète|vous inquiétez|sais|comprends|marche|fonctionne|est|sont|suis|faut|passe\b|trouve|vois)\w+[^.?]*\b(?:pas|rien|plus|aucun\w*)\b"),
    (_NEVER, r"\b(?:il ne faut|tu ne dois|vous ne devez|on ne doit|ne doi(?:t|vent))\b[^.?]*\b(?:pas|jamais|rien|plus|aucun\w*)\b|\b(?:interdit|interdite|interdits|pas touche|en aucun cas|sous aucun prétexte)\b"),
    (_NEVER, r"^(?:merci de |prière de |de |et )?ne (?:pas|jamais|rien|plus) \w+(?:er|ir|re)\b|\bmerci de ne (?:pas|jamais|rien|plus)\b"),
    (_ALWAYS, r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir|chaque fois que|à chaque (?:fois|modification|changement|étape)|avant chaque|après chaque|systématiquement)\b"),
    (_ALWAYS, r"\btoujours\b(?!.*\b(?:erreur|échoue|même problème|pareil|cassé|plante)\b)(?<!est toujours)(?<!sont toujours)(?<!a toujours)(?<!y a toujours)(?!.*\?)"),
    (_ALWAYS, r"\b(?:tous|toutes|tout|toute|chaque)\b[^.?]*\b(?:doi(?:t|vent)|faut|devrai\w+)\b(?!.*\?)"),
    (_ALWAYS, r"\b(?:assure-toi|assurez-vous|veille|veillez|fais attention|pense|pensez|n'oublie pas|n'oubliez pas) (?:bien )?(?:que?|à|de|d')\b"),
    (_ALWAYS, r"\b(?:demande|demandez|préviens|prévenez)(?:-moi| moi)\b[^.?]*\bavant\b|\b(?:réponds|répondez|écris|écrivez|commente)\b[^.?]*\ben (?:français|anglais|allemand|espagnol)\b"),
    (_USE, r"\b(?:utilise|utilisez|emploie|employez|prends)\b[^.?]*\b(?:plutôt|au lieu|à la place|pas|uniquement|seulement|partout|pour tou\w+)\b(?!.*\?)"),
    (_USE, r"^(?:s'il te plaît,? |stp,? )?(?:utilise|utilisez) (?:des tabulations|des espaces|\w+ pour les tests|\w+ pour tout|des guillemets (?:simples|doubles))\b|\b(?:préfère|préférez|privilégie|privilégiez|tiens-t'en|tenez-vous-en|reste sur|restez sur)\b"),
    (_USE, r"\b(?:on|nous) (?:n'utilise|n'utilisons|utilise|utilisons|ne supporte|ne prend)\b[^.?]*\b(?:que|pas|uniquement|toujours|aucun\w*|jamais)\b"),
    (_LIMIT, r"\b(?:modifie|modifiez|change|changez|touche|touchez|travaille|édite|lis)\b[^.?]*\b(?:uniquement|seulement|que)\b|\brien d'autre\b|\bseulement (?:dans|le|la|les)\b"),
    (_LIMIT, r"\b(?:pas|aucune?) (?:de )?(?:nouvelles?|nouveaux?|autres?) \w+|^(?:et |mais |surtout )?(?:pas de|pas d'|aucune?) \w+(?: \w+){0,5}[.!]?$"),
    (_LIMIT, r"\bsans (?:ajouter|modifier|changer|toucher|casser|utiliser|installer|renommer|introduire)\b"),
    (_LIMIT, r"\b(?:laisse|laissez|garde|gardez)\b[^.?]*\b(?:tel\w* quel\w*|tranquille|intact\w*|inchangé\w*|compatible\w*|en l'état|comme)\b|\b(?:au plus|au maximum|pas plus de) \d+|\b\d+ \w+ (?:au maximum|maximum|max|au plus)\b"),
)  # fmt: skip

_SPANISH: tuple[Rule, ...] = (
    (_CORRECTION, r"^(?:no|mal|para|otra vez|incorrecto)[,:.!] .*\b(?:dije|pedí|no|usa|en vez|en lugar)\b"),
    (_CORRECTION, r"\b(?:ya )?te (?:he dicho|dije|pedí|había dicho|he pedido)\b(?!.*\?)|\b(?:deja|dejad|para) de \w+r\b"),
    (_NEVER, r"\b(?:nunca|jamás)\b(?!.*\b(?:funcionó|visto|vi|había|ha|llega|termina|terminó|devuelve|pasa|pasó|supe)\b)(?!.*\?)"),
    (_NEVER, r"(?:^|[,;:\u2014\u2013-] |\b(?:y|pero|por favor|así que|favor de|también) )no (?:me |lo |la |los |las |le |se |nos )?(?:te preocupes|sé|entiendo|funciona|es|está|hay|puedo|veo|pasa nada|importa|encuentro|creo|compila|arranca|tengo|olvides)?(?<!no te preocupes)(?<!no sé)(?<!no entiendo)(?<!no funciona)(?<!no es)(?<!no está)(?<!no hay)(?<!no puedo)(?<!no veo)(?<!no pasa nada)(?<!no importa)(?<!no encuentro)(?<!no creo)(?<!no compila)(?<!no arranca)(?<!no tengo)(?<!no olvides)\w*(?:es|as|en|an|éis|áis|uses|toques)\b"),
    (_NEVER, r"\b(?:no (?:debes?|deben|puedes|se debe|se puede|hay que|quiero que))\b(?!.*\?)|\b(?:prohibido|prohibida|bajo ningún concepto|en ningún caso|ni se te ocurra|intocables?)\b"),
    (_ALWAYS, r"\b(?:a partir de ahora|de ahora en adelante|desde ahora|en adelante|en el futuro|cada vez que|después de cada|tras cada|antes de cada)\b"),
    (_ALWAYS, r"\bsiempre\b(?!.*\b(?:falla|error|devuelve|igual|ha sido|rompe)\b)(?!.*\?)"),
    (_ALWAYS, r"\b(?:todos?|todas?|cada|cualquier)\b[^.?]*\b(?:debe|deben|tiene que|tienen que|debería|deberían)\b(?!.*\?)"),
    (_ALWAYS, r"\b(?:asegúrate|asegúrese|procura|recuerda|acuérdate|no olvides|ten en cuenta)\b[^.?]*\b(?:de|que|siempre|cada)\b"),
    (_ALWAYS, r"\b(?:pregúntame|avísame|consúltame|pídeme)\b[^.?]*\bantes\b|\b(?:responde|contesta|escribe|comenta)\w*\b[^.?]*\ben (?:español|inglés|francés|alemán)\b"),
    (_USE, r"\b(?:usa|usad|use|utiliza|utilice|emplea)\b[^.?]*\b(?:en vez|en lugar|no|solo|sólo|únicamente|en todo|en todas|en todos|para todo|para todos|siempre)\b(?!.*\?)"),
    (_USE, r"^(?:por favor,? )?(?:usa|utiliza) (?:tabuladores|espacios|comillas (?:simples|dobles)|\w+ para (?:las pruebas|los tests|todo))\b|\b(?:prefiero|prefiere|quédate con|cíñete a|limítate a|mantente en)\b"),
    (_USE, r"\b(?:aquí )?(?:no )?(?:usamos|soportamos|aceptamos|admitimos)\b[^.?]*\b(?:solo|sólo|siempre|no|nada|ningun\w*|únicamente)\b|\b(?:solo|sólo|no|únicamente) (?:usamos|soportamos|aceptamos|admitimos)\b"),
    (_LIMIT, r"\b(?:solo|sólo|únicamente) (?:puedes |debes )?(?:toca|cambia|modifica|edita|trabaja|usa|lee|escribe)\w*|\b(?:cambia|modifica|edita|toca|trabaja)\w* (?:solo|sólo|únicamente|solamente)\b|\bnada más (?:que|en)\b|\bnada (?:fuera|de nuevas)\b"),
    (_LIMIT, r"\b(?:sin|ningun\w*|nada de) (?:nuevas?|nuevos?|más|otras?|otros?|dependencias?)\b|^(?:y |pero )?(?:nada de|ningun\w*|sin) \w+(?: \w+){0,5}[.!]?$"),
    (_LIMIT, r"\bsin (?:añadir|agregar|modificar|cambiar|tocar|romper|usar|instalar|renombrar|introducir)\b"),
    (_LIMIT, r"\b(?:deja|dejad|mantén|mantenga|conserva)\b[^.?]*\b(?:como está|como están|tal cual|intact\w+|igual|sin cambios|en paz|compatible\w*|estable)\b|\b(?:como máximo|máximo|no más de|a lo sumo) \d+"),
)  # fmt: skip


@cache
def rules() -> tuple[tuple[ConstraintKind, re.Pattern[str]], ...]:
    """All rules, compiled when the first message is looked at."""
    languages = (_ENGLISH, _GERMAN, _FRENCH, _SPANISH)
    return tuple(
        (kind, re.compile(pattern)) for language in languages for kind, pattern in language
    )
