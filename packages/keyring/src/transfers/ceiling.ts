import { KeyringError } from '../errors.ts';
import { BoundedLog, type Log, logToStandardError, RefusalLog } from '../log.ts';
import {
  DEFAULT_LIMITS,
  type KeyringLimits,
  KIT_LIMITS,
  type TransferGate,
  type TransferKind,
  type TransferLimits,
  type Transfers,
} from './limits.ts';

const WINDOW_MS = 60_000;
/** Where only organizations have a limit, as many as it remembers: a service may name organizations that there are not. */
const REMEMBERED_MAX = 100_000;

/** How refusals of each kind say what they are about. */
const WORDS = {
  export: {
    noun: 'exports',
    verb: 'makes',
    tooMany: 'TOO_MANY_EXPORTS',
    tooManyAtOnce: 'TOO_MANY_EXPORTS_AT_ONCE',
  },
  kit: {
    noun: 'recovery kits',
    verb: 'makes',
    tooMany: 'TOO_MANY_EXPORTS',
    tooManyAtOnce: 'TOO_MANY_EXPORTS_AT_ONCE',
  },
  import: {
    noun: 'imports',
    verb: 'takes',
    tooMany: 'TOO_MANY_IMPORTS',
    tooManyAtOnce: 'TOO_MANY_IMPORTS_AT_ONCE',
  },
} as const;
type Counted = keyof typeof WORDS;

interface Admitted {
  readonly atMs: number;
  readonly organizationId: string;
}

export interface CeilingParts {
  readonly log?: Log | undefined;
  /** Never goes back, whatever happens to the time of day. */
  readonly nowMs?: () => number;
}

/** Counts exports and imports, each kind by its own limits, and of the exports the recovery kits (docs/decisions/0059). */
export class Ceilings implements TransferGate {
  readonly #ceilings: Readonly<Record<Counted, Ceiling>>;
  readonly #logs: Readonly<Record<TransferKind, Log>>;

  constructor({ exportLimits = DEFAULT_LIMITS.export, importLimits }: KeyringLimits = {}, parts: CeilingParts = {}) {
    // An operator who wants no limit of exports wants none of kits.
    const kitLimits = {
      perOrganization: exportLimits.perOrganization === 0 ? 0 : KIT_LIMITS.perOrganization,
      inAll: exportLimits.inAll === 0 ? 0 : KIT_LIMITS.inAll,
    };
    const log = parts.log ?? logToStandardError;
    // Imports have no limit unless one is set, and must not push lines about exports out of a log.
    const imports = new BoundedLog('imports not shown one by one', log, parts.nowMs);
    this.#logs = { export: log, import: (line) => imports.write(line) };
    this.#ceilings = {
      export: new Ceiling('export', exportLimits, parts),
      kit: new Ceiling('kit', kitLimits, parts),
      import: new Ceiling('import', importLimits ?? DEFAULT_LIMITS.import, parts),
    };
  }

  /** Of a keyring that does not know what the last minute had. */
  waitForWindow(): void {
    for (const ceiling of Object.values(this.#ceilings)) ceiling.waitForWindow();
  }

  /** Nothing is counted where one of the ceilings refuses. */
  async admit(wanted: Transfers): Promise<void> {
    const { kind, what, organizationId, ownerIds, kit } = wanted;
    const ceilings = [this.#ceilings[kind], ...(kit === undefined ? [] : [this.#ceilings.kit])];
    for (const ceiling of ceilings) ceiling.check(wanted);
    for (const ceiling of ceilings) ceiling.count(wanted);
    const held = kit && { ...kit, recipients: kit.recipients.join(' ') };
    for (const ownerId of ownerIds) this.#logs[kind]({ msg: kind, what, organizationId, ownerId, ...held });
  }
}

/** Counts what the last minute had of one kind, and lets no more through than the limits. */
class Ceiling {
  readonly #counted: Counted;
  readonly #perOrganization: number;
  readonly #inAll: number;
  readonly #refusals: RefusalLog;
  readonly #nowMs: () => number;
  /** In the order of their times; as long as the limits at most. */
  readonly #recent: Admitted[] = [];
  /** How many of them each organization has. */
  readonly #counts = new Map<string, number>();
  #closedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(counted: Counted, { perOrganization, inAll }: TransferLimits, parts: CeilingParts) {
    this.#counted = counted;
    this.#perOrganization = perOrganization;
    this.#inAll = inAll === 0 && perOrganization > 0 ? REMEMBERED_MAX : inAll;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
    this.#refusals = new RefusalLog(parts.log ?? logToStandardError, this.#nowMs);
  }

  waitForWindow(): void {
    if (this.#inAll > 0) this.#closedUntilMs = this.#nowMs() + WINDOW_MS;
  }

  check(wanted: Transfers): void {
    const { organizationId } = wanted;
    const nowMs = this.#nowMs();
    this.#forgetBefore(nowMs - WINDOW_MS);
    const own = (): Admitted[] => this.#recent.filter((each) => each.organizationId === organizationId);
    const count = this.#counts.get(organizationId) ?? 0;
    if (nowMs < this.#closedUntilMs) {
      const { noun, verb } = WORDS[this.#counted];
      const message = `the keyring was not shut down, and ${verb} no ${noun} in its first minute`;
      throw this.#refusal(wanted, message, this.#closedUntilMs);
    }
    this.#compare(wanted, this.#perOrganization, 'of one organization', count, own);
    this.#compare(wanted, this.#inAll, 'in all', this.#recent.length, () => this.#recent);
  }

  count({ organizationId, ownerIds }: Transfers): void {
    if (this.#inAll === 0) return;
    const atMs = this.#nowMs();
    for (const _ of ownerIds) this.#recent.push({ atMs, organizationId });
    this.#counts.set(organizationId, (this.#counts.get(organizationId) ?? 0) + ownerIds.length);
  }

  #forgetBefore(ms: number): void {
    const first = this.#recent.findIndex(({ atMs }) => atMs > ms);
    const left = this.#recent.splice(0, first === -1 ? this.#recent.length : first);
    for (const { organizationId } of left) {
      const count = (this.#counts.get(organizationId) ?? 0) - 1;
      if (count > 0) this.#counts.set(organizationId, count);
      else this.#counts.delete(organizationId);
    }
  }

  /** There is room again when so many have left the window that all of these fit into it. */
  #compare(wanted: Transfers, limit: number, whose: string, count: number, counted: () => readonly Admitted[]): void {
    const more = wanted.ownerIds.length;
    if (limit === 0 || count + more <= limit) return;
    const { noun, verb, tooManyAtOnce } = WORDS[this.#counted];
    const message = `the keyring ${verb} ${limit} ${noun} a minute ${whose}`;
    if (more > limit) {
      this.#note(wanted, message);
      throw new KeyringError(tooManyAtOnce, `${message}, and this asks for ${more} at once`);
    }
    const last = counted()[count + more - limit - 1] as Admitted;
    throw this.#refusal(wanted, message, last.atMs + WINDOW_MS);
  }

  #refusal(wanted: Transfers, message: string, untilMs: number): KeyringError {
    this.#note(wanted, message);
    const retryAfterSeconds = Math.max(1, Math.ceil((untilMs - this.#nowMs()) / 1000));
    return new KeyringError(WORDS[this.#counted].tooMany, message, retryAfterSeconds);
  }

  #note({ what, organizationId, ownerIds }: Transfers, reason: string): void {
    const { noun } = WORDS[this.#counted];
    this.#refusals.note(`${noun} refused`, { reason, what, organizationId, ownerId: ownerIds[0] ?? '' });
  }
}
