/** Event types after which nothing of a prediction's stream is read. */
export type Ending = 'done' | 'error';

const LONGEST = 32; // of a line that matters

/** Watches the bytes of an event stream for its last event, without holding more than the beginning of a line. */
export class EndScan {
  #line = '';
  #type = '';
  #afterCr = false;
  #ending: Ending | undefined;

  /** The event that ended the stream, or would if the body ended here. */
  get ending(): Ending | undefined {
    return this.#ending ?? endingOf(this.#type);
  }

  /** How many of these bytes belong to the stream: all, or those up to the end of its last event. */
  read(bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      const isRest = byte === 0x0a && this.#afterCr; // of a line end that has been seen
      this.#afterCr = byte === 0x0d;
      if (isRest) continue;
      if (byte !== 0x0a && byte !== 0x0d) {
        if (this.#line.length < LONGEST) this.#line += String.fromCharCode(byte ?? 0);
      } else if (this.#endLine()) return at + 1;
    }
    return bytes.length;
  }

  /** Whether the stream's last event is complete. */
  get isOver(): boolean {
    return this.#ending !== undefined;
  }

  #endLine(): boolean {
    if (this.#line === '') this.#ending = endingOf(this.#type);
    if (this.#line === '') this.#type = '';
    else if (this.#line.startsWith('event:')) this.#type = this.#line.slice(6).trim();
    this.#line = '';
    return this.isOver;
  }
}

function endingOf(type: string): Ending | undefined {
  return type === 'done' || type === 'error' ? type : undefined;
}
