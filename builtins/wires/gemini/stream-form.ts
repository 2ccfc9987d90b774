/** How the frames of a stream are put together; all texts are byte strings. */
export interface StreamForm {
  readonly contentType: string;
  /** Ends a body that holds a frame. */
  readonly end: string;
  /** A whole body without any. */
  readonly empty: string;
  /** What may stand between two frames and says nothing. Comments break most clients of this wire. See docs/proxies.md#keep-alives. */
  readonly keepAlive: string;
  frame(json: string, isFirst: boolean): string;
}

/** What clients get that ask for `alt=sse`. */
export const SSE_FORM: StreamForm = Object.freeze({
  contentType: 'text/event-stream; charset=utf-8',
  end: '',
  empty: '',
  keepAlive: '\r\n\r\n',
  frame: (json: string) => `data: ${json}\r\n\r\n`,
});

/** One list of all frames, for all others. */
export const LIST_FORM: StreamForm = Object.freeze({
  contentType: 'application/json',
  end: ']',
  empty: '[]',
  keepAlive: '\n',
  frame: (json: string, isFirst: boolean) => (isFirst ? `[${json}` : `,\r\n${json}`),
});
