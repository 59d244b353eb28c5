import { setImmediate } from 'node:timers/promises';
import type { ActivityStatus } from '../../../core/model.ts';
import { ActivityReader, type ActivityWithVotes } from '../../../core/store/activity-reader.ts';
import { type OpenActivity, OpenActivityReader, type OpenPlace } from '../../../core/store/open-activities.ts';
import { chunks } from '../../../lib/collections.ts';
import { LIMITS } from '../../../lib/limits.ts';
import type { PageInfo } from '../../../lib/pagination.ts';
import { type ApprovalInputs, approvalOf } from './approval.ts';
import { awaitedCacheOf, awaitedKeyOf } from './awaited-cache.ts';
import { type InboxCursor, noCursor, printInboxCursor } from './inbox-cursor.ts';
import type { Approval } from './shapes.ts';

const OPEN: readonly ActivityStatus[] = ['ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'];

/** Each is a decision of its own, so one query takes no more of them. */
const JUDGED_MAX = 200;
const AT_ONCE = 4;
const BATCH = 50;
/** More are not counted one by one. */
const COUNTED_MAX = 10_000;

type Wanted = (approval: Approval) => boolean;

export interface InboxRequest {
  readonly limit: number;
  readonly after?: InboxCursor | undefined;
  readonly before?: InboxCursor | undefined;
}

/** The open activities of an organization as one reader sees them. */
export class Inbox {
  readonly #inputs: ApprovalInputs;
  readonly #judged = new Map<string, boolean>();

  constructor(inputs: ApprovalInputs) {
    this.#inputs = inputs;
  }

  /**
   * Least time left first, and what has lapsed behind all others. A page may have fewer than it has room for, even none,
   * while more follow: its last cursor is how far it looked.
   */
  async page(request: InboxRequest, isWanted: Wanted): Promise<{ items: Approval[]; pageInfo: PageInfo }> {
    const { after, before, limit } = request;
    const start = before ?? after;
    if (start !== undefined && !(await this.#isOwn(start))) throw noCursor(before === undefined ? 'after' : 'before');
    const lapsedUntilMs = start?.lapsedUntilMs ?? this.#lapsedUntilMs;
    const isBackwards = before !== undefined;
    const shown: { approval: Approval; place: OpenPlace }[] = [];
    let looked: OpenPlace | undefined = start;
    let isCut = false;
    let bytes = 0;
    for (let count = 0; ; ) {
      const batch = await this.#list({ lapsedUntilMs, from: looked, isBackwards, limit: BATCH });
      for (const some of chunks(batch, AT_ONCE)) {
        const judged = await this.#approvals(some);
        for (const place of some) {
          bytes += place.bytes;
          isCut = shown.length === limit || count === JUDGED_MAX || (bytes > LIMITS.pageBytes && shown.length > 0);
          if (isCut) break;
          count += 1;
          looked = place;
          const approval = judged.get(place.id);
          // What was decided meanwhile is not in the list any more.
          if (approval !== undefined && isWanted(approval)) shown.push({ approval, place });
        }
        if (isCut) break;
        await setImmediate();
      }
      if (isCut || batch.length < BATCH) break;
    }
    if (isBackwards) shown.reverse();
    const cursorOf = (place: OpenPlace | undefined): string =>
      place === undefined
        ? ''
        : printInboxCursor({ lapsedUntilMs, roundStartedAtMs: place.roundStartedAtMs, id: place.id });
    const edge = cursorOf(looked);
    const [first, last] = [shown[0], shown.at(-1)].map((item) => (item === undefined ? edge : cursorOf(item.place)));
    const pageInfo = {
      hasNextPage: isBackwards || isCut,
      hasPreviousPage: isBackwards ? isCut : after !== undefined,
      startCursor: (isBackwards && isCut ? edge : first) ?? edge,
      endCursor: (!isBackwards && isCut ? edge : last) ?? edge,
    };
    return { items: shown.map(({ approval }) => approval), pageInfo };
  }

  /** How many wait for the reader and for others: of the first in the list, where there are very many. */
  async counts(): Promise<{ forMe: number; forOthers: number; isComplete: boolean }> {
    const { read, actor, nowMs } = this.#inputs;
    const lapsedUntilMs = this.#lapsedUntilMs;
    const open = await this.#list({ lapsedUntilMs, isBackwards: false, limit: JUDGED_MAX + 1 });
    const isComplete = open.length <= JUDGED_MAX;
    const cache = awaitedCacheOf(read);
    const keys = new Map(
      open
        .slice(0, JUDGED_MAX)
        .map((found) => [found, awaitedKeyOf(actor, found, found.roundStartedAtMs <= lapsedUntilMs)]),
    );
    const known = (found: OpenActivity): boolean | undefined =>
      this.#judged.get(found.id) ?? cache.get(keys.get(found) ?? '', nowMs);
    let forMe = 0;
    const unknown: OpenActivity[] = [];
    for (const found of keys.keys()) {
      const isAwaited = known(found);
      if (isAwaited === undefined) unknown.push(found);
      else if (isAwaited) forMe += 1;
    }
    for (const some of chunks(unknown, AT_ONCE)) {
      const loaded = await this.#load(some);
      const judged = await Promise.all(
        loaded.map(async (found) => [found.id, (await this.#inputs.rehearseVote(found))?.isAwaited ?? false] as const),
      );
      const byId = new Map<string, boolean>(judged);
      for (const found of some) {
        const isAwaited = byId.get(found.id) ?? false;
        cache.put(keys.get(found) ?? '', isAwaited, nowMs);
        if (isAwaited) forMe += 1;
      }
      await setImmediate();
    }
    const count = isComplete ? open.length : await read(ActivityReader).count(actor.organizationId, OPEN, COUNTED_MAX);
    return { forMe, forOthers: count - forMe, isComplete };
  }

  /** An activity may have been decided since, and stays where it was in the list. */
  async #isOwn(place: OpenPlace): Promise<boolean> {
    const { read, actor } = this.#inputs;
    return await read(OpenActivityReader).hasPlace(actor.organizationId, place);
  }

  get #lapsedUntilMs(): number {
    return this.#inputs.nowMs - LIMITS.approvalWindowMs;
  }

  async #list(range: Parameters<OpenActivityReader['list']>[1]): Promise<OpenActivity[]> {
    const { read, actor } = this.#inputs;
    return await read(OpenActivityReader).list(actor.organizationId, range);
  }

  async #load(some: readonly OpenActivity[]): Promise<ActivityWithVotes[]> {
    const { read, actor } = this.#inputs;
    return await read(ActivityReader).ofIdsWithVotes(
      actor.organizationId,
      some.map(({ id }) => id),
    );
  }

  async #approvals(some: readonly OpenActivity[]): Promise<ReadonlyMap<string, Approval>> {
    const open = (await this.#load(some)).filter(({ activity }) => OPEN.includes(activity.status));
    const approvals = await Promise.all(open.map((found) => approvalOf(this.#inputs, found)));
    for (const { activity, progress } of approvals) this.#judged.set(activity.id, progress.waitsForMe);
    return new Map(approvals.map((approval) => [approval.activity.id, approval]));
  }
}
