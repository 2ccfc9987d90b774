import { addAll, type Fields, isFields } from '../fields.ts';

/** What the vendor takes of schemas that it holds answers and calls to, over a whole request. Source: platform.claude.com, "Structured outputs", "Schema complexity limits", 2026-11-22. */
const MOST_TOOLS = 20;
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

interface Complexity {
  /** Properties that need not be there. */
  readonly optional: number;
  /** Places that take one of several types. */
  readonly unions: number;
}

/** How much of these limits a request has left. */
export class SchemaRoom {
  #tools = MOST_TOOLS;
  #optional = MOST_OPTIONAL;
  #unions = MOST_UNIONS;

  /** The form of the answer, which counts whether there is room or not. */
  takeAnswer(schema: Fields): void {
    const { optional, unions } = complexityOf(schema);
    this.#optional -= optional;
    this.#unions -= unions;
  }

  /** False where a tool's schema has no room any more. */
  takeTool(schema: Fields): boolean {
    const { optional, unions } = complexityOf(schema);
    if (this.#tools < 1 || optional > this.#optional || unions > this.#unions) return false;
    this.#tools -= 1;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

function complexityOf(root: unknown): Complexity {
  const open: unknown[] = [root];
  let [optional, unions] = [0, 0];
  while (open.length > 0) {
    const schema = open.pop();
    if (Array.isArray(schema)) addAll(open, schema);
    if (!isFields(schema)) continue;
    const { properties, required, anyOf, type, enum: _values, const: _value, ...others } = schema;
    if (Array.isArray(anyOf) || Array.isArray(type)) unions += 1;
    if (isFields(properties)) {
      const names = new Set(Array.isArray(required) ? required : []);
      optional += Object.keys(properties).filter((name) => !names.has(name)).length;
      addAll(open, Object.values(properties));
    }
    open.push(anyOf);
    addAll(open, Object.values(others));
  }
  return { optional, unions };
}
