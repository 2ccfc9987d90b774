/** Sees the pieces of a JSON object, and when its last brace has come. Nothing is parsed. */
export class JsonEnd {
  isReached = false;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  see(piece: string): void {
    for (let at = 0; at < piece.length && !this.isReached; at += 1) this.#character(piece[at] ?? '');
  }

  #character(character: string): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character === '"') this.#isInString = this.#depth > 0;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if ((character === '}' || character === ']') && this.#depth > 0) {
      this.#depth -= 1;
      this.isReached = this.#depth === 0;
    }
  }
}
