import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** `custos keyring serve` in a process of its own, as the user of the tests or as another. */
export class ServedKeyring implements AsyncDisposable {
  /** Everything that is the keyring's, and the folder of its socket. */
  readonly folder = mkdtempSync(join(tmpdir(), 'custos-served-'));
  readonly path = join(this.folder, 'run', 'keyring.sock');
  readonly ring = join(this.folder, 'state', 'root.key');
  /** The keyring's own copy of the key, and the service's. */
  readonly keyFile = join(this.folder, 'state', 'link.key');
  readonly serviceKeyFile = join(this.folder, 'link.key');
  readonly #env: Readonly<Record<string, string>>;
  readonly #user: User | undefined;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(env: Readonly<Record<string, string>>, user: User | undefined, service: User | undefined) {
    this.#env = env;
    this.#user = user;
    const key = randomBytes(32).toString('hex');
    chmodSync(this.folder, 0o711);
    for (const [name, mode] of [
      ['run', 0o750],
      ['state', 0o700],
    ] as const)
      mkdirSync(join(this.folder, name), { mode });
    writeFileSync(this.keyFile, key, { mode: 0o600 });
    writeFileSync(this.serviceKeyFile, key, { mode: 0o600 });
    if (service !== undefined) chownSync(this.serviceKeyFile, service.uid, service.gid);
    if (user === undefined) return;
    for (const name of ['run', 'state', 'state/link.key']) chownSync(join(this.folder, name), user.uid, user.gid);
  }

  static async start(
    options: { env?: Readonly<Record<string, string>>; user?: User; service?: User; makesFolder?: boolean } = {},
  ): Promise<ServedKeyring> {
    const keyring = new ServedKeyring(options.env ?? {}, options.user, options.service);
    if (options.makesFolder === true) rmSync(join(keyring.folder, 'run'), { recursive: true });
    try {
      await keyring.start();
      return keyring;
    } catch (error) {
      await keyring[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the keyring is not running');
    return this.#child.pid;
  }

  /** All that it has printed. */
  get output(): string {
    return this.#output;
  }

  /** What a service sets to use it. */
  get serviceSettings(): Record<string, string> {
    return { CUSTOS_KEYRING: `socket:${this.path}`, CUSTOS_KEYRING_KEY_FILE: this.serviceKeyFile };
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [CLI, 'keyring', 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        CUSTOS_KEYRING: `socket:${this.path}`,
        CUSTOS_KEYRING_KEY_FILE: this.keyFile,
        CUSTOS_ROOT_KEY: `file:${this.ring}`,
        ...this.#env,
      },
      cwd: '/',
      ...this.#user,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      const hear = (text: string): void => {
        this.#output += text;
        if (text.includes('The keyring serves at')) resolve();
      };
      child.stdout.setEncoding('utf8').on('data', hear);
      child.stderr.setEncoding('utf8').on('data', hear);
      child.once('exit', () => reject(new Error(`the keyring ended: ${this.#output}`)));
    });
  }

  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = once(child, 'exit');
    child.kill(signal);
    return (await ended)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
