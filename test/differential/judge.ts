import { Dice } from '../kit/index.ts';
import { ACCEPTED } from './accepted.ts';
import { type Difference, differences, says } from './compare.ts';
import type { Body } from './generate/request.ts';
import { readCommon } from './meaning/common.ts';
import type { Fields, Meaning } from './meaning/meaning.ts';
import { PENDING } from './pending.ts';
import { sampleOf, type Schemas } from './schema-samples.ts';
import type { OurSide } from './sides/ours.ts';
import type { Side } from './sides/sides.ts';
import { sentByThem } from './sides/theirs.ts';

/** All that a line of the tables may ask about. */
export interface Case {
  readonly side: Side;
  readonly request: Body;
  /** What the client said, in the terms of the comparison; `undefined` for what no reader understands. */
  readonly asked: Meaning | undefined;
  /** What the gateway said that it left out. */
  readonly ignored: readonly string[];
}

/** A difference that is right, or that is known and will be mended. */
export interface Line {
  /** Which sides it is about; all of them unless said. */
  readonly sides?: RegExp;
  /** The whole place, or a pattern of it. */
  readonly at: string | RegExp;
  readonly when?: (difference: Difference, about: Case) => boolean;
  readonly why: string;
}

export interface Found extends Difference {
  readonly side: string;
}

/** Compares what both toolkits make of a request, line by line of the tables; what no line speaks for is returned. */
export class Judge {
  readonly #ours: OurSide;
  readonly #schemas: Schemas;
  readonly #used = new Set<Line>();

  constructor(ours: OurSide, schemas: Schemas) {
    this.#ours = ours;
    this.#schemas = schemas;
  }

  /** Lines of the tables that nothing has needed so far. */
  get unused(): readonly Line[] {
    return [...ACCEPTED, ...PENDING].filter((line) => !this.#used.has(line));
  }

  async differences(side: Side, request: Body): Promise<Found[]> {
    const [ours, theirs] = [await this.#ours.send(side, request), await sentByThem(side, request)];
    const about: Case = { side, request, asked: understood(request), ignored: ours.ignored };
    const found =
      ours.body && theirs.body
        ? this.#ofBodies(about, side.read(ours.body), side.read(theirs.body))
        : refusals(ours.refusal, theirs.refusal);
    return found
      .filter((difference) => !this.#isKnown(difference, about))
      .map((difference) => ({ side: side.name, ...difference }));
  }

  #ofBodies(about: Case, ours: Meaning, theirs: Meaning): Difference[] {
    return [...this.#ofSchemas(about, ours), ...differences(withoutSchemas(ours), withoutSchemas(theirs))];
  }

  /** Schemas are compared with the client's by what they take: every wire has a dialect of its own. */
  #ofSchemas({ asked, ignored }: Case, ours: Meaning): Difference[] {
    const sent = schemasOf(ours);
    return Object.entries(asked ? schemasOf(asked) : {}).flatMap(([name, schema]): Difference[] => {
      const own = sent[name];
      if (own === undefined)
        return name === 'answer' && !ignored.includes('response_format')
          ? [{ at: 'answer without its schema', ours: undefined, theirs: undefined }]
          : [];
      if (JSON.stringify(own) === JSON.stringify(schema)) return [];
      const dice = new Dice(7);
      const values = Array.from({ length: 6 }, () => sampleOf(schema, dice)).filter((value) =>
        this.#schemas.takes(schema, value),
      );
      return values
        .filter((value) => !this.#schemas.takes(own, value))
        .slice(0, 1)
        .map((value) => ({ at: `schema of ${name.split(' ')[0]}`, ours: own, theirs: { takes: value } }));
    });
  }

  #isKnown(difference: Difference, about: Case): boolean {
    const line = [...ACCEPTED, ...PENDING].find((one) => speaksFor(one, difference, about));
    if (line) this.#used.add(line);
    return line !== undefined;
  }
}

function speaksFor({ sides, at, when }: Line, difference: Difference, about: Case): boolean {
  if (sides && !sides.test(about.side.name)) return false;
  const isThere = typeof at === 'string' ? at === difference.at : at.test(difference.at);
  return isThere && (when === undefined || when(difference, about));
}

function understood(request: Body): Meaning | undefined {
  try {
    return readCommon(request);
  } catch {
    return undefined;
  }
}

function refusals(ours: string | undefined, theirs: string | undefined): Difference[] {
  return ours !== undefined && theirs !== undefined
    ? []
    : [{ at: ours === undefined ? 'refused by them' : 'refused by us', ours, theirs }];
}

/** Schemas by what they are of: a function, or the answer. */
function schemasOf({ tools, settings }: Meaning): Fields {
  const format = settings['response_format'] as Fields | undefined;
  const answer =
    settings['schema'] ??
    format?.['schema'] ??
    format?.['json_schema']?.schema ??
    tools.find(({ name }) => name === 'gw_structured_answer')?.['schema'];
  return {
    ...Object.fromEntries(tools.flatMap(({ name, schema }) => (schema ? [[`tool ${name}`, schema]] : []))),
    ...(answer !== undefined && { answer }),
  };
}

function withoutSchemas({ turns, tools, settings }: Meaning): Meaning {
  const { schema: _schema, response_format: format, ...rest } = settings as Fields;
  const { schema: _inner, json_schema: named, ...kept } = typeof format === 'object' ? (format as Fields) : {};
  const { schema: _deep, ...names } = (named ?? {}) as Fields;
  return {
    turns,
    tools: tools.map(({ schema: _own, ...tool }) => tool as Meaning['tools'][number]),
    settings: {
      ...rest,
      ...(format !== undefined && {
        response_format: typeof format === 'object' ? { ...kept, ...(named && { json_schema: names }) } : format,
      }),
    },
  };
}

/** Whether the client said just that, at that place. */
export const isAsked = (at: string, value: unknown, { asked }: Case): boolean =>
  asked !== undefined && value !== undefined && says(withoutSchemas(asked), at, value);
