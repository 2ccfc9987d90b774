/** Takes the text of an event stream as it comes, and gives the data of every event that is complete. */
export class EventReader {
  #rest = '';
  #data: string[] = [];

  push(text: string): string[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/); // a carriage return at the end may be half of a line break
    this.#rest = lines.pop() ?? '';
    const events: string[] = [];
    for (const line of lines) {
      if (line.startsWith('data:')) this.#data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || this.#data.length === 0) continue;
      events.push(this.#data.join('\n'));
      this.#data = [];
    }
    return events;
  }
}
