/** A call of a tool that a model makes. */
export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a model answers in one turn, in this order: a thought, a text, calls. */
export interface Turn {
  readonly thought?: string;
  readonly say?: string;
  readonly calls?: readonly Call[];
}

/** A call with the id that the upstream gives it. */
export interface NumberedCall extends Call {
  readonly id: string;
}

/** The ids of a turn's calls: the turn's number, and a letter for each. */
export const callsOf = ({ calls = [] }: Turn, number: number): NumberedCall[] =>
  calls.map((call, at) => ({ ...call, id: `call_step_${number}${String.fromCharCode(97 + at)}` }));

/** How many turns a request has behind it: their calls stand in it. */
export const turnsIn = (text: string): number =>
  new Set(Array.from(text.matchAll(/_step_(\d)/g), ([, number]) => number)).size;

/** Texts that end as something begins that a guard looks for: it holds the end, and gives it out before what follows. */
export const THOUGHT = 'let me see what forbi';
export const SAID = 'now the file, for jane.doe@';
/** What pii-redact finds, and what the others leave. */
export const ADDRESS = 'jane.doe@example.com';
export const LAST: Turn = { thought: THOUGHT, say: `all is done, write to ${ADDRESS} now` };
export const LAST_TEXT = LAST.say ?? '';
/** What `word-filter` looks for; no turn says it. */
export const WORD = 'forbidden';

/** The names of the tools that a request offers, in whichever wire: in a namespace with its name before. */
export function toolsIn(text: string): readonly string[] {
  const names: string[] = [];
  const visit = (value: unknown, namespace: string): void => {
    if (Array.isArray(value)) value.forEach((item) => visit(item, namespace));
    else if (typeof value === 'object' && value !== null) {
      const {
        type,
        name,
        tools,
        function: called,
        input,
        functionDeclarations,
        toolConfig,
        toolSpec,
      } = value as Record<string, any>;
      if (typeof name === 'string' && type !== 'namespace' && !('call_id' in value)) names.push(namespace + name);
      if (called?.name && called.parameters) names.push(called.name as string);
      if (toolSpec) names.push(toolSpec.name as string);
      visit(tools, type === 'namespace' ? `${String(name)}__` : namespace);
      visit(input, namespace);
      visit(functionDeclarations, namespace);
      visit(toolConfig, namespace);
    }
  };
  visit(JSON.parse(text), '');
  return names;
}
