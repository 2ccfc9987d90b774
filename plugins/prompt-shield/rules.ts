/** One sign of an attack. */
export interface Rule {
  readonly pattern: RegExp;
  /** How sure the sign is by itself, 0 to 1. */
  readonly weight: number;
}

/** Signs of one kind of attack. */
export interface Kind {
  /** How words go on, from their first letter, of which one is in every text that a sign of this kind stands in. */
  readonly stems: readonly string[];
  readonly rules: readonly Rule[];
}

const GAP = '[^.!?\\n]{0,40}?';
const INSTRUCTIONS =
  '(?:instruct(?:ion)?s?|prompts?|rules?|directions?|directives?|guidelines?|guidance|commands?|orders?|constraints?|restrictions?|safeguards?|policies|programming|training|context|conversation|messages?|text)';
const EARLIER =
  '(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|former|initial|original|existing|current|past|old|system|safety|built-in|default|hidden|developer)';
const OVERRIDE =
  "(?:ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|neglect|discard|abandon|overlook|dismiss|circumvent|cancel|erase|delete|reset|pay no (?:attention|heed) to|(?:do not|don't|stop) (?:follow|obey|listen|adher|comply)(?:ing|e)?(?: to| with)?)";
const NOT_DENIED =
  "(?<!\\b(?:not|never|n't|cannot|to|we|they|users?|he|she|it|who|that|which|often|please do not|can i|should i|could i|must i) )(?<!\\b(?:does|phrases?|like|called|means|term|words?) [\"'])";

/** Orders and messages are cancelled and deleted every day. */
const OF_MESSAGES =
  '(?!(?:cancel|delete|erase|reset)\\b[^.!?\\n]{0,60}?\\b(?:orders?|messages?|text|conversation|context|commands?|directions?)\\b)';

const SECRET_PROMPT =
  '(?:(?:system|hidden|secret|initial|original|internal|developer|starting|base|root|pre) ?-?(?:prompts?|messages?|instructions?|guidelines|rules|directives|preamble|configuration)|pre-?prompt|metaprompt)';
const SHOW =
  "(?:reveal|show|print|repeat|output|display|tell|give|share|leak|expose|dump|recite|write|copy|return|list|echo|disclose|summari[sz]e|translate|provide|quote|paste|spell|describe|send|read|see|know|what (?:is|are|was|were|does|did)|what's)";

const UNLIMITED =
  "(?:(?:no|without|free (?:of|from)|ignor\\w+|bypass\\w*|not (?:bound|limited|restricted|constrained) by|outside)(?: of)? (?:any |all |your |its |the |such |usual |normal |content |safety |ethical |moral |these |those )*(?:restrictions?|limits?|limitations?|rules|filters?|filtering|guidelines|guardrails|boundaries|ethics|ethical|morals?|censorship|constraints?|polic(?:y|ies)|safeguards|safety|inhibitions|scruples)|unrestricted|unfiltered|uncensored|unlimited ai|unbound|amoral|do anything now|anything i (?:ask|want|say)|never (?:refuse|refuses|decline|say no)|(?:can(?:not|'t)|will not|won't|must not|don't) (?:refuse|decline|say no)|answers? (?:everything|anything|any question))";
const PERSONA =
  "(?:you are (?:now|going to be|no longer)|you're now|act as|acting as|act like|pretend|role-?play|imagine (?:that )?you|simulate|behave (?:as|like)|take on the (?:role|persona)|assume the (?:role|persona|identity)|become|from now on|from this point|you will be|you shall be|respond as|answer as|play the (?:role|part)|enter|switch (?:to|into)|enable|activate|play a (?:\\w+[ -]){0,2}?game)";

const ENCODING =
  '(?:base ?-?64|rot ?-?13|hex(?:adecimal)?|caesar|cipher(?:text)?|morse|binary|encoded|encrypted|url-?encoded|reversed|backwards)';
const OBEY = '(?:follow|obey|execute|comply with|carry out|perform|act on|act upon|do (?:exactly )?what|do as|treat)';

const stemsOf = (words: string): readonly string[] => words.split(',');
const pairs = (firsts: readonly string[], seconds: readonly string[]): readonly string[] =>
  firsts.flatMap((first) => seconds.map((second) => first + second));
const rule = (weight: number, ...parts: readonly string[]): Rule => ({
  weight,
  pattern: new RegExp(parts.join(''), 'm'),
});

/**
 * Signs of attacks, in lower case. Kinds by the OWASP Top 10 for LLM applications 2025, LLM01 and LLM07, read 2026-11-22: override of
 * earlier instructions, request for the hidden prompt, persona without limits, fake role markers, encoded payload. Gaps are bounded, so
 * that the work is in proportion to the text.
 */
export const KINDS: readonly Kind[] = [
  {
    // Override of earlier instructions.
    stems: [
      ...stemsOf(
        'ignor,disregard,forget,overr,overlook,bypass,neglect,discard,abandon,dismiss,circumvent,cancel,erase,delet,reset,pay no,vergiss,vergess,disabl,deactivat,turn off,switch off,drop,remove,longer,void,null,revok,obsolete,supersed,missacht,olvid,oubli',
      ),
      ...pairs(['not ', "don't ", 'stop '], ['follow', 'obey', 'listen', 'adher', 'comply']),
      ...pairs(
        ['new ', 'real ', 'actual ', 'updated ', 'true ', 'only '],
        ['instruct', 'rules', 'directive', 'orders', 'task'],
      ),
    ],
    rules: [
      rule(
        0.8,
        NOT_DENIED,
        `\\b${OF_MESSAGES}${OVERRIDE}\\b`,
        GAP,
        `\\b${EARLIER}\\b`,
        '(?: \\w+){0,2}?',
        ` ${INSTRUCTIONS}\\b`,
      ),
      rule(
        0.7,
        NOT_DENIED,
        `\\b${OVERRIDE} (?:absolutely )?(?:all|any|every|each|your|all of|any of)(?: of)?(?: (?:your|the|these|those|my|its))?(?: \\w+)? ?${INSTRUCTIONS}\\b(?! on | about | regarding | in the email)`,
      ),
      rule(
        0.7,
        NOT_DENIED,
        `\\b${OVERRIDE} (?:all|everything|anything|whatever)(?: that)?(?: (?:was|is|has been|you|you've|you have|i|we|they|been|were|just|ever|previously|already))* ?(?:(?:prior|previous|preceding|earlier)(?= ?(?:[.!?,;:]|$|and\\b|instead\\b|then\\b))|(?:above|before|told|said|instructed|learned|taught|given|know)\\b)`,
      ),
      rule(
        0.7,
        NOT_DENIED,
        `\\b${OVERRIDE} (?:the |all |these |those )*${INSTRUCTIONS} (?:above|before|given|you (?:were|have been|got|received|had)|that (?:came|were|you)|from (?:before|earlier|your))`,
      ),
      rule(
        0.7,
        `\\byou to ${OVERRIDE} (?:all |any |everything )?(?:of )?(?:your |the |these |those )?${EARLIER} ${INSTRUCTIONS}\\b`,
      ),
      rule(
        0.7,
        `\\b(?:${EARLIER} (?:instructions?|prompts?|rules|directives?|guidelines)|(?:instructions?|prompts?|rules|directives?|guidelines) (?:above|before this)) (?:are|is|were|was) (?:now |hereby |all )?(?:no longer (?:valid|in (?:force|effect)|apply|relevant)|void|null|cancel+ed|revoked|obsolete|overridden|superseded)\\b`,
      ),
      rule(
        0.7,
        NOT_DENIED,
        '\\b(?:bypass|disable|deactivate|turn off|switch off|override|ignore|drop|remove) (?:all )?(?:of )?your (?:\\w+ ){0,2}?(?:filters?|guardrails?|safeguards?|safety|censorship|restrictions?|moderation|protocols?|ethics)\\b',
      ),
      rule(
        0.7,
        NOT_DENIED,
        `\\b(?:ignore|disregard|forget) (?:all of |everything )?(?:the )?(?:above|preceding)\\b,? (?:and|then|instead)(?: (?:then|just|only|now|simply|instead))* (?:say|print|output|write|respond|reply|answer|tell|reveal|show|give|do|act|follow|translate|return|repeat)\\b`,
      ),
      rule(
        0.6,
        '\\b(?:new|real|actual|updated|true|only) (?:instructions?|rules|directives?|orders|task)\\b[^.!?\\n]{0,20}?(?:: |:\\n| (?:are|is) (?:to|as follows|now))[^\\n]{0,60}?\\b(?:you|ignore|reveal|say|print|output|respond|must)\\b',
      ),
      rule(
        0.6,
        '\\b(?:ignorieren?|ignoriere|vergiss|vergessen|missachte) ',
        GAP,
        '(?:vorherig|vorig|bisherig|obig|frueher|früher|alle|deine|system)\\w*',
        GAP,
        '(?:anweisung|instruktion|befehl|vorgabe|regel|aufgabe|prompt)',
      ),
      rule(
        0.6,
        '\\b(?:ignor[ae]z?|ignorer|olvid[ae]|oublie[zr]?) ',
        GAP,
        '(?:instrucciones|instrucoes|instruções|consignes?|instructions(?= (?:pr[ée]c[ée]dentes|ci-dessus|du syst[èe]me|ant[ée]rieures))|regles?|règles?|reglas|órdenes|ordenes|indicaciones)\\b',
        '(?=',
        GAP,
        '(?:anterior|previ|précédent|precedent|ci-dessus|système|sistema)|)',
      ),
    ],
  },
  {
    // Request for the hidden prompt.
    stems: [
      ...stemsOf(
        'prompt,preprompt,pre-prompt,metaprompt,instruct,guidelines,rules,directive,preamble,above,preceding,prior to,before this,before the,before by,top of,start of,beginning of,told',
      ),
      ...pairs(
        [
          'system ',
          'hidden ',
          'secret ',
          'initial ',
          'internal ',
          'original ',
          'developer ',
          'starting ',
          'base ',
          'root ',
        ],
        ['message', 'config'],
      ),
    ],
    rules: [
      rule(
        0.7,
        `\\b${SHOW}\\b`,
        '[^.!?\\n]{0,60}?',
        '\\b(?:your|the|its) (?:\\w+ ){0,3}?',
        `${SECRET_PROMPT}\\b(?! (?:manual|requirements|of (?:the|an?|my|our|this) (?!session|chat|conversation|assistant|model|bot)|for (?:the|a|my|our|this) (?!session|chat|conversation|assistant|model|bot)))`,
      ),
      rule(
        0.6,
        `\\b${SHOW}\\b`,
        '[^.!?\\n]{0,40}?',
        '\\byour (?:\\w+ ){0,3}?(?:prompt|instructions|guidelines|rules|directives)\\b(?= ?(?:[.?!:;"\'`,)]|$|verbatim|word|exactly|in full|above|and |as |from|given|before|to me|here|now|in a|in the form|with))',
      ),
      rule(
        0.7,
        '\\b(?:repeat|print|output|reveal|show|display|recite|copy|echo|return|write out)\\b',
        '[^.!?\\n]{0,30}?',
        '\\b(?:everything|all|words?|text|lines?|content|contents|sentences|messages?|instructions|context|prompt)\\b',
        '[^.!?\\n]{0,20}?',
        '\\b(?:above|before (?:this|the)|prior to (?:this|the)|preceding|at the (?:top|start|beginning) of (?:this|the|your) (?:conversation|chat|prompt|context))\\b(?<!above(?= (?:the|an?|my|our|their|it)\\b))',
      ),
      rule(
        0.7,
        '\\b(?:summari[sz]e|translate)\\b[^.!?\\n]{0,30}?\\b(?:instructions|prompt)\\b[^.!?\\n]{0,20}?\\b(?:above|before (?:this|the)|prior to (?:this|the)|preceding|at the (?:top|start|beginning) of)\\b',
      ),
      rule(
        0.6,
        `\\b(?:reveal|show|print|repeat|output|display|tell me|give me|recite|list|echo|disclose)\\b[^.!?\\n]{0,20}?\\b(?:instructions?|prompts?|rules|guidelines|directives)(?: that)? you(?:'ve| were| have)(?: been)? (?:given|told|following|provided)(?! by )\\b`,
      ),
      rule(
        0.6,
        '\\bwhat (?:were|are|have) you(?: been)? (?:told|instructed|programmed|configured)\\b',
        GAP,
        '(?:to|not|before|by|at|about|in)\\b',
      ),
    ],
  },
  {
    // Persona without limits.
    stems: stemsOf(
      'restrict,limit,filter,guideline,guardrail,boundar,ethic,moral,censor,constraint,polic,safe,inhibition,scruple,unbound,unlimited,unrestrict,unfilter,uncensor,unethic,amoral,immoral,anything,refuse,decline,say no,answers every,answers any,answer every,answer any,rules,jailbr,developer mode,god mode,dan,evil mode,sudo mode,debug mode',
    ),
    rules: [
      rule(0.75, `\\b${PERSONA}\\b`, '[^!?\\n]{0,120}?', `\\b${UNLIMITED}`),
      rule(
        0.75,
        `\\b(?:you|your|an?) (?:ai|assistant|model|bot|chatbot|persona|character|system|entity|mode|version)\\b[^!?\\n]{0,60}?\\b${UNLIMITED}`,
      ),
      rule(
        0.7,
        "\\byou(?:'re| are| will be)(?: now)? an? (?:\\w+ ){0,2}?(?:uncensored|unfiltered|unrestricted|unlimited|amoral|unethical|jailbroken) (?:\\w+ ){0,2}?(?:ai|assistant|model|bot|chatbot|persona|character|system|entity|version)\\b",
      ),
      rule(
        0.7,
        "\\byou(?:'re| are|'ve been| have been)(?: now)?(?: been)? (?:free|freed|liberated|released|unchained) (?:from|of) (?:all |any |your |the |every |openai'?s? |these |those )+(?:\\w+ ){0,2}?(?:restrictions?|limits?|limitations?|rules|filters?|guidelines|guardrails|polic(?:y|ies)|constraints?|chains)\\b",
      ),
      rule(
        0.7,
        "\\byou (?:no longer|do not|don't) (?:have|need) to (?:follow|obey|adhere to|comply with|abide by|respect) (?:any |all |the )?(?:your|openai|anthropic|google|meta)(?:'?s)? (?:\\w+ ){0,2}?(?:polic(?:y|ies)|guidelines|rules|restrictions|filters?|terms)\\b",
      ),
      rule(
        0.7,
        '\\b(?:do anything now|jailbr(?:eak|oken) (?:mode|prompt|yourself|version)|(?:(?:enter|enable|activate|switch to|turn on|be in|in|into|now in) (?:the )?(?:\\w+ )?(?:god|dan|evil|sudo|unrestricted|jailbreak) mode)|(?:be|as|are|are now|called|named) dan\\b|(?:god|dan|evil|unrestricted|jailbreak) mode (?:enabled|activated|on|engaged))',
      ),
      // What telephones and browsers have too: only where the model is addressed, and no device is named.
      rule(
        0.7,
        '(?:^|[.!?:"] ?|\\b(?:you|please|now|and|then|must|should|will|are|us|we) )(?:enter|enable|activate|switch to|turn on|(?:be |are )?(?:now )?in|into) (?:the |your )?(?:developer|debug) mode\\b(?! (?:on|in|for|of|setting|option|menu)\\b)',
      ),
      rule(
        0.7,
        '\\b(?:developer|debug) mode(?: is)?(?: now)? (?:enabled|activated|engaged|on(?= ?(?:[.!?:,;"\\]]|$)))',
      ),
    ],
  },
  {
    // Fake role markers.
    stems: [
      ...stemsOf('system,sys>>,developer,admin,assistant,instruct,inst]'),
      ...pairs(
        ['begin', 'end', 'start', 'end of', 'start of', 'beginning of'],
        pairs([' ', '_', ' the '], ['user', 'hidden', 'original', 'previous']),
      ),
    ],
    rules: [
      rule(
        0.8,
        '<\\|(?:im_start|im_end|im_sep|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id|begin_of_text|endofprompt|channel|message)\\|>',
      ),
      rule(0.6, '</?(?:system|developer|system[ _-]?(?:prompt|message|instructions?))>'),
      rule(0.7, '\\[/?inst\\]|<</?sys>>|<(?:start|end)_of_turn>'),
      rule(
        0.7,
        '^[ \\t>]*(?:#{2,4} ?|\\[|<\\/?|\\*\\*|={2,} ?|-{2,} ?|"role" ?: ?")(?:system|assistant|developer|admin|instructions?)(?: (?:prompt|message|override|instructions?|update|note))?(?:\\]|>|:|\\*\\*| ?={2,}| ?-{2,}|")[ \\t:"]*(?:,|$|\\n|.{0,80}?\\b(?:you|your|ignore|disregard|forget|new|now|override|must|always|never|reveal|comply|disable|allow|unrestricted|the user)\\b)',
      ),
      rule(
        0.7,
        '(?:^|\\n|[.!?"] )[ \\t]*(?:system|developer|admin(?:istrator)?)(?: (?:prompt|message|override|note|update|instructions?))? ?: ?.{0,40}?\\b(?:you (?:are|must|will|should|can|have)|your |ignore|disregard|forget|override|new (?:instructions|rules|task)|from now on|comply|reveal|disable|the user (?:is|has)|always|never)\\b',
      ),
      rule(
        0.6,
        '\\bnew system (?:prompt|message|instructions?) ?:|\\b(?:begin|start|initiate|execute|activate) (?:system|admin|developer) override\\b',
      ),
      rule(
        0.7,
        '(?:\\[|-{2,} ?|={2,} ?|#{2,} ?|<)(?:begin|end|start|end of|start of|beginning of)[ _](?:the )?(?:system|user|admin|developer|hidden|original|previous)[ _]?(?:prompt|message|instructions?|input|query|context)?\\b',
      ),
    ],
  },
  {
    // Encoded payload.
    stems: stemsOf(
      'base64,base 64,base-64,rot13,rot 13,rot-13,hex,hexadecimal,caesar,cipher,morse,binary,encod,encrypt,url-encod,decod,decipher,decrypt,unscrambl,revers,backward',
    ),
    rules: [
      rule(
        0.7,
        `\\b(?:decode|decrypt|decipher|unscramble|translate|convert|reverse|read|interpret|this is|here is|following|message|text|string)\\b[^\\n]{0,60}?\\b${ENCODING}\\b[^\\n]{0,80}?\\b(?:and|then|to)\\b[^\\n]{0,20}?\\b${OBEY}\\b`,
      ),
      rule(
        0.7,
        `\\b(?:decode|decrypt|decipher)\\b[^\\n]{0,60}?\\b(?:and|then)\\b(?: then)?[^\\n]{0,10}?\\b(?:follow|obey|comply|carry out|do what|do as|execute|act on|perform)\\b[^\\n]{0,40}?\\b(?:it|instructions?|commands?|orders|says|result|message|output)\\b`,
      ),
      rule(
        0.6,
        `\\b${OBEY} (?:the |these |those )?(?:instructions?|commands?|orders)\\b[^.!?\\n]{0,30}?\\b(?:encoded|hidden|written|contained|given) (?:in|as|with) (?:this |the |following )*${ENCODING}\\b`,
      ),
      rule(
        0.6,
        `\\b${OBEY}\\b[^.!?\\n]{0,40}?\\b${ENCODING}\\b[^.!?\\n]{0,30}?\\b(?:instructions?|commands?|message|payload|text|string|orders)\\b`,
      ),
    ],
  },
];
