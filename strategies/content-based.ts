import Joi from 'joi';
import {
  defineStrategy,
  inPart,
  linearPattern,
  MOST_PATTERN_SIZE,
  patternProblem,
  patternSize,
  type StrategyProblem,
  SURFACES,
  targetFirst,
  targetKeyProblem,
  targetNames,
  TOP_LEVEL,
} from 'gw/contract';

interface ContentCondition {
  type: string;
  value: string;
  target_key: string;
}

interface Settings {
  content_conditions: ContentCondition[];
}

/** What the user wrote, a text for each message. */
class UserTexts {
  readonly written: readonly string[];
  #lowered: readonly string[] | undefined;

  constructor(written: readonly string[]) {
    this.written = written;
  }

  /** In lower case, made once for all conditions. */
  get lowered(): readonly string[] {
    return (this.#lowered ??= this.written.map((text) => text.toLowerCase()));
  }
}

/** The type of a condition whose value is a pattern. */
const PATTERN = 'prompt_regex';

type Matcher = (texts: UserTexts) => boolean;

/** Patterns take linear time whatever the text: no backreferences, no lookaround. They are found anywhere in it. */
const MATCHERS: ReadonlyMap<string, (value: string) => Matcher> = new Map<string, (value: string) => Matcher>([
  ['prompt_contains', (value) => containsAny(value)],
  [
    'prompt_not_contains',
    (value) => {
      const contains = containsAny(value);
      return (texts) => !contains(texts);
    },
  ],
  [
    PATTERN,
    (value) => {
      const pattern = linearPattern(value);
      return ({ written }) => written.some((text) => pattern.test(text));
    },
  ],
]);

const text = (meaning: string): Joi.StringSchema => Joi.string().allow('').default('').description(meaning);

/** The target that the first matching condition names, else the declared order. See docs/strategies.md#content-based. */
export default defineStrategy<Settings>({
  name: 'content-based',
  summary: 'Chooses the target by rules on what the user wrote',
  sessions: 'repeatable',
  settings: Joi.object<Settings, true>({
    content_conditions: Joi.array()
      .items(
        Joi.object<ContentCondition, true>({
          type: text('how texts are compared: `prompt_contains`, `prompt_not_contains` or `prompt_regex`'),
          value: text('text or pattern; a pattern is RE2, found anywhere'),
          target_key: text('the target that takes it: a declared `virtual_key`'),
        }),
      )
      .default([])
      .description(
        'rules, at least one; the first that matches names the target, otherwise the first target takes the request',
      ),
  }),
  settingsFrom: ['content_conditions'],
  check: ({ content_conditions: conditions }, targets, { strategy, entry } = TOP_LEVEL) => {
    if (conditions.length === 0)
      return [
        {
          path: `${strategy}.content_conditions`,
          rule: 'CV18',
          message: 'content-based has no content_conditions',
          fix: 'write at least one, or use another mode',
        },
      ];
    const names = targetNames(targets);
    const sizes = new PatternSizes();
    return conditions.flatMap((condition, index) => {
      const path = `${strategy}.content_conditions[${index}]`;
      return [
        ...typeProblems(condition, path, sizes),
        ...targetKeyProblem(condition.target_key, names, { path: `${path}.target_key`, rule: 'CV18', entry }),
      ];
    });
  },
  create: ({ content_conditions: conditions }) => {
    const matchers = conditions.map(({ type, value }) => MATCHERS.get(type)?.(value));
    return (targets, query, notes) => {
      // On other surfaces there is no user's text, so no condition matches; an empty text of a user is compared like any other.
      const isRead = !query.isListing && SURFACES[query.surface].isChat;
      const texts = new UserTexts(isRead ? query.userTexts() : []);
      const index = isRead ? matchers.findIndex((matches) => matches?.(texts)) : -1;
      if (index < 0) {
        const why = isRead ? 'no condition matches' : `conditions do not apply to ${query.surface}`;
        notes?.target?.(targets[0]?.virtualKey ?? '', `${why}: the first target takes the request`);
        return targets;
      }
      const chosen = conditions[index]?.target_key ?? '';
      notes?.rule?.(`content_conditions[${index}]`);
      notes?.target?.(chosen, `content_conditions[${index}] matches`);
      return targetFirst(chosen, targets);
    };
  },
});

function containsAny(value: string): Matcher {
  const wanted = value.toLowerCase();
  return ({ lowered }) => lowered.some((text) => text.includes(wanted));
}

function typeProblems({ type, value }: ContentCondition, at: string, sizes: PatternSizes): readonly StrategyProblem[] {
  const make = MATCHERS.get(type);
  if (!make)
    return [
      {
        path: `${at}.type`,
        rule: 'CV18',
        message: `${at} has the type "${type}"`,
        fix: `use one of: ${[...MATCHERS.keys()].join(', ')}`,
      },
    ];
  if (type !== PATTERN) return [];
  const problem = (message: string, fix: string): readonly StrategyProblem[] => [
    {
      path: `${at}.value`,
      rule: 'CV18',
      message: `${at} has the pattern "${inPart(value, MOST_SHOWN)}", ${message}`,
      fix,
    },
  ];
  const size = sizes.add(value);
  if (size > MOST_PATTERN_SIZE)
    return problem(
      `and with those before it may compile to ${size} instructions; the limit is ${MOST_PATTERN_SIZE}`,
      'write smaller counts, or fewer patterns',
    );
  const why = patternProblem(value);
  return why === undefined
    ? []
    : problem(`which does not compile: ${why}`, 'write an RE2 pattern, without lookaround and backreferences');
}

/** UTF-16 code units of a pattern that a message shows. */
const MOST_SHOWN = 200;

/** The patterns of all conditions together. One that is too large is not counted for those behind it. */
class PatternSizes {
  #sum = 0;

  /** The size of all with this one. */
  add(pattern: string): number {
    const size = this.#sum + patternSize(pattern);
    if (size <= MOST_PATTERN_SIZE) this.#sum = size;
    return size;
  }
}
