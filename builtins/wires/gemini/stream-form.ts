/** How the frames of a stream are put together; all texts are byte strings. */
export interface StreamForm {
  readonly contentType: string;
  /** Ends a body that holds a frame. */
  readonly end: string;
  /** A whole body without any. */
  readonly empty: string;
  frame(json: string, isFirst: boolean): string;
}

/** What clients get that ask for `alt=sse`. */
export const SSE_FORM: StreamForm = Object.freeze({
  contentType: 'text/event-stream; charset=utf-8',
  end: '',
  empty: '',
  frame: (json: string) => `data: ${json}\r\n\r\n`,
});

/** One list of all frames, for all others. */
export const LIST_FORM: StreamForm = Object.freeze({
  contentType: 'application/json',
  end: ']',
  empty: '[]',
  frame: (json: string, isFirst: boolean) => (isFirst ? `[${json}` : `,\r\n${json}`),
});
