import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as it came over the wire, taken apart. */
export interface CaughtMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By lower-case name, decoded. */
  readonly headers: ReadonlyMap<string, string>;
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What a mail gets instead of being accepted: an SMTP code, or a connection that breaks off. */
export type Answer = number | 'drop';

/** A real SMTP server that keeps what it accepts. */
export class MailServer implements AsyncDisposable {
  readonly accepted: CaughtMail[] = [];
  /** Every mail whose content came in, whatever became of it. */
  readonly offered: CaughtMail[] = [];
  readonly url: string;
  readonly #server: SMTPServer;
  readonly #events = new EventEmitter();
  readonly #answers: Answer[];
  readonly #sockets: ReadonlySet<Socket>;
  #gate: Promise<unknown> = Promise.resolve();
  #taken = 0;

  private constructor(server: SMTPServer, port: number, answers: Answer[], sockets: ReadonlySet<Socket>) {
    this.#server = server;
    this.#answers = answers;
    this.#sockets = sockets;
    this.url = `smtp://127.0.0.1:${port}`;
  }

  static async start(options: SMTPServerOptions = {}): Promise<MailServer> {
    const answers: Answer[] = [];
    const sockets = new Set<Socket>();
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      authOptional: true,
      logger: false,
      closeTimeout: 10,
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
          const to = rcptTo.map(({ address }) => address);
          void caught.#take({ from, to, ...parseMail(Buffer.concat(chunks).toString('utf8')) }, callback);
        });
      },
      ...options,
    });
    server.on('error', () => {});
    server.server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    const listening = once(server.server, 'listening');
    server.listen(0, '127.0.0.1');
    await listening;
    const { port } = server.server.address() as AddressInfo;
    const caught = new MailServer(server, port, answers, sockets);
    return caught;
  }

  /** What the next mails get, in this order; those behind them are accepted. */
  answerNext(...answers: readonly Answer[]): void {
    this.#answers.push(...answers);
  }

  /** Makes mails wait for their answer until the returned function is called. */
  hold(): () => void {
    let release = (): void => {};
    this.#gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    return release;
  }

  /** Ends all connections, as a server does with those that are idle. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The next accepted mail that was not returned before. */
  async next(): Promise<CaughtMail> {
    while (this.accepted.length <= this.#taken) await once(this.#events, 'accepted');
    this.#taken += 1;
    return this.accepted[this.#taken - 1] as CaughtMail;
  }

  /** Resolves when the content of a mail has come in, before it is answered. */
  async offer(): Promise<void> {
    await once(this.#events, 'offered');
  }

  async #take(mail: CaughtMail, callback: (error?: Error | null, message?: string) => void): Promise<void> {
    const answer = this.#answers.shift();
    this.offered.push(mail);
    this.#events.emit('offered');
    await this.#gate;
    if (answer === 'drop') {
      this.disconnect();
      return;
    }
    if (answer !== undefined) {
      callback(Object.assign(new Error(`answered with ${answer}`), { responseCode: answer }));
      return;
    }
    this.accepted.push(mail);
    callback(null, `kept as ${this.accepted.length}`);
    this.#events.emit('accepted');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(resolve));
  }
}

type Headers = ReadonlyMap<string, string>;

function parseMail(source: string): Omit<CaughtMail, 'from' | 'to'> {
  const { headers, body } = split(source);
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '')?.[1];
  const parts = boundary === undefined ? [{ headers, body }] : body.split(`--${boundary}`).slice(1, -1).map(split);
  const partOf = (type: string): string => {
    const part = parts.find((candidate) => candidate.headers.get('content-type')?.startsWith(type));
    return part === undefined ? '' : decodeBody(part.headers, part.body);
  };
  return {
    headers,
    messageId: headers.get('message-id') ?? '',
    subject: headers.get('subject') ?? '',
    text: partOf('text/plain'),
    html: partOf('text/html'),
  };
}

function split(source: string): { headers: Headers; body: string } {
  const trimmed = source.replace(/^\r\n/, '');
  const end = trimmed.indexOf('\r\n\r\n');
  const lines = trimmed
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim()));
  }
  return { headers, body: trimmed.slice(end + 4) };
}

/** RFC 2047; white space between two encoded words is none. */
const decodeWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_match, encoding: string, word: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : quotedPrintable(word.replaceAll('_', ' ')),
    );

function decodeBody(headers: Headers, body: string): string {
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  const decoded =
    encoding === 'base64'
      ? Buffer.from(body, 'base64').toString('utf8')
      : encoding === 'quoted-printable'
        ? quotedPrintable(body.replace(/=\r\n/g, ''))
        : body;
  return decoded.replaceAll('\r\n', '\n').trimEnd();
}

const quotedPrintable = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
