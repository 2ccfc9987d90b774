import type { Fields } from '../../../host/contract/index.ts';
import { answerTo, ToolServerError } from './rpc.ts';

/** Answers that are on their way at a time. See docs/mcp.md#servers. */
const AT_ONCE = 4;
/** Answers that wait for those: how many, and how many characters of them. */
const MOST_WAITING = 1000;
const MOST_CHARACTERS = 1024 * 1024;

export interface AnswersOptions {
  /** Sends an answer, which is JSON; settles once it is out or given up. */
  readonly send: (answer: string) => Promise<unknown>;
  /** Called once, with the reason: a server that asks so much is not served any more. */
  readonly onTooMany: (error: ToolServerError) => void;
}

/** What a server asks of the gateway is answered in the order in which it came, a few at a time: a server may ask without end. */
export class Answers {
  readonly #options: AnswersOptions;
  #waiting: string[] = [];
  /** Place of the next one in the list, which is cut once all of it is out. */
  #next = 0;
  #characters = 0;
  #underWay = 0;
  #isOver = false;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Answers a request of the server, once it is its turn. */
  give(request: Fields): void {
    if (this.#isOver) return;
    const answer = JSON.stringify(answerTo(request));
    this.#waiting.push(answer);
    this.#characters += answer.length;
    this.#sendSome();
    const waiting = this.#waiting.length - this.#next;
    if (waiting <= MOST_WAITING && this.#characters <= MOST_CHARACTERS) return;
    this.end();
    this.#options.onTooMany(
      new ToolServerError('unavailable', `it asks faster than it takes answers: ${waiting} of its requests wait`),
    );
  }

  /** What waits is thrown away. */
  end(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#next = 0;
  }

  #sendSome(): void {
    while (!this.#isOver && this.#underWay < AT_ONCE && this.#next < this.#waiting.length) {
      const answer = this.#waiting[this.#next] ?? '';
      this.#next += 1;
      if (this.#next === this.#waiting.length) {
        this.#waiting = [];
        this.#next = 0;
      }
      this.#characters -= answer.length;
      this.#underWay += 1;
      const isOut = (): void => {
        this.#underWay -= 1;
        this.#sendSome();
      };
      this.#options.send(answer).then(isOut, isOut);
    }
  }
}
