/** A line of a refusal: where, by which rule, and what. */
export interface PlacedProblem {
  readonly path: string;
  readonly text: string;
}

/** `providers.x.api_key: CV47: a credential must be a reference; fix: write …`. */
const LINE = /^(.+?): ((?:CV|BV|DC|WN|MV)\d+\w*: .*)$/;

/** The problems of a refused configuration by their places; lines of another form have none. */
export function problemsIn(message: string): readonly PlacedProblem[] {
  return message
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, path = '', text = line] = LINE.exec(line) ?? [];
      return { path, text };
    });
}
