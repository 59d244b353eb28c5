import { connect, type Socket } from 'node:net';

const CONNECTIONS = 4;

/** Mail by the fewest exchanges that the protocol allows, over a few connections that stay open. */
export class Mailer {
  readonly #port: number;
  readonly #waiting: { readonly to: string; readonly text: string }[] = [];
  #connections = 0;
  #idle: Courier[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  send(to: string, text: string): void {
    this.#waiting.push({ to, text });
    const courier = this.#idle.pop();
    if (courier !== undefined) this.#next(courier);
    else if (this.#connections < CONNECTIONS) {
      this.#connections += 1;
      void Courier.open(this.#port).then((opened) => this.#next(opened));
    }
  }

  #next(courier: Courier): void {
    const mail = this.#waiting.shift();
    if (mail === undefined) this.#idle.push(courier);
    else void courier.send(mail.to, mail.text).then(() => this.#next(courier));
  }
}

class Courier {
  readonly #socket: Socket;
  #answered: (() => void) | undefined;
  #text = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text;
      // The last line of an answer has a space behind its code.
      if (!/^\d{3} [^\n]*\n$/m.test(this.#text)) return;
      if (!/^[23]/.test(this.#text)) throw new Error(`the mail server said ${this.#text}`);
      this.#text = '';
      this.#answered?.();
    });
  }

  static async open(port: number): Promise<Courier> {
    const courier = new Courier(connect({ port, host: '127.0.0.1', noDelay: true }));
    await courier.#answer();
    await courier.#say('EHLO floor.example\r\n');
    return courier;
  }

  async send(to: string, text: string): Promise<void> {
    await this.#say('MAIL FROM:<floor@mail.example>\r\n');
    await this.#say(`RCPT TO:<${to}>\r\n`);
    await this.#say('DATA\r\n');
    await this.#say(`${text}\r\n.\r\n`);
  }

  async #say(line: string): Promise<void> {
    const answer = this.#answer();
    this.#socket.write(line);
    await answer;
  }

  #answer(): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }
}
