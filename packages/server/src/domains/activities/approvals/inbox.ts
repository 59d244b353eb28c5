import { setImmediate } from 'node:timers/promises';
import type { ActivityStatus } from '../../../core/model.ts';
import { ActivityReader, type ActivityWithVotes } from '../../../core/store/activities.ts';
import type { PageInfo, PageRequest } from '../../../lib/pagination.ts';
import { type ApprovalInputs, approvalOf } from './approval.ts';
import type { Approval } from './shapes.ts';

export const OPEN: readonly ActivityStatus[] = [
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
];

/** Each is a decision of its own, so one query takes no more of them. */
const JUDGED_MAX = 200;
const AT_ONCE = 4;
const BATCH = 50;
/** More are not counted one by one. */
const COUNTED_MAX = 10_000;

type Wanted = (approval: Approval) => boolean;

/**
 * The open activities of an organization as one reader sees them. What was judged for the page is not judged again for the
 * counts.
 */
export class Inbox {
  readonly #inputs: ApprovalInputs;
  readonly #judged = new Map<string, Approval>();

  constructor(inputs: ApprovalInputs) {
    this.#inputs = inputs;
  }

  /**
   * Newest first. A page may have fewer than it has room for, even none, while more follow: its last cursor is how far it
   * looked.
   */
  async page(request: PageRequest, isWanted: Wanted): Promise<{ items: Approval[]; pageInfo: PageInfo }> {
    const { before, after } = request.kind === 'page' ? request : {};
    const limit = request.kind === 'page' ? request.limit : request.max;
    const isBackwards = before !== undefined;
    const items: Approval[] = [];
    let cursor = before ?? after;
    let isCut = false;
    for (let looked = 0; ; ) {
      const batch = await this.#batch(cursor, isBackwards);
      const shown = batch.items;
      for (let start = 0; start < shown.length && !isCut; start += AT_ONCE) {
        const some = shown.slice(start, start + AT_ONCE);
        const judged = await Promise.all(some.map((found) => this.#judge(found)));
        for (const approval of judged) {
          if (items.length === limit || looked === JUDGED_MAX) {
            isCut = true;
            break;
          }
          looked += 1;
          cursor = approval.activity.id;
          if (isWanted(approval)) items.push(approval);
        }
        await setImmediate();
      }
      if (isCut || !batch.hasMore) break;
    }
    if (isBackwards) items.reverse();
    return { items, pageInfo: pageInfoOf(items, { cursor: cursor ?? '', isCut, before, after }) };
  }

  /** How many wait for the reader and for others: of the newest, where there are very many. */
  async counts(): Promise<{ forMe: number; forOthers: number; isComplete: boolean }> {
    const { read, actor } = this.#inputs;
    const { items } = await this.page({ kind: 'all', max: JUDGED_MAX }, () => true);
    const forMe = items.filter(({ progress }) => progress.waitsForMe).length;
    const isComplete = items.length < JUDGED_MAX;
    const open = isComplete ? items.length : await read(ActivityReader).count(actor.organizationId, OPEN, COUNTED_MAX);
    return { forMe, forOthers: open - forMe, isComplete };
  }

  /** In the order in which they are looked at. */
  async #batch(
    cursor: string | undefined,
    isBackwards: boolean,
  ): Promise<{ readonly items: readonly ActivityWithVotes[]; readonly hasMore: boolean }> {
    const { read, actor } = this.#inputs;
    const range = cursor === undefined ? {} : isBackwards ? { before: cursor } : { after: cursor };
    const { items, pageInfo } = await read(ActivityReader).page(
      actor.organizationId,
      { statuses: OPEN },
      { kind: 'page', limit: BATCH, ...range },
      'shorten',
    );
    return isBackwards
      ? { items: [...items].reverse(), hasMore: pageInfo.hasPreviousPage }
      : { items, hasMore: pageInfo.hasNextPage };
  }

  async #judge(found: ActivityWithVotes): Promise<Approval> {
    const known = this.#judged.get(found.id);
    if (known !== undefined) return known;
    const approval = await approvalOf(this.#inputs, found);
    this.#judged.set(found.id, approval);
    return approval;
  }
}

interface Looked {
  /** The last that was looked at. */
  readonly cursor: string;
  readonly isCut: boolean;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

function pageInfoOf(items: readonly Approval[], { cursor, isCut, before, after }: Looked): PageInfo {
  const first = items[0]?.activity.id;
  const last = items.at(-1)?.activity.id;
  return before === undefined
    ? {
        hasNextPage: isCut,
        hasPreviousPage: after !== undefined,
        startCursor: first ?? cursor,
        endCursor: isCut ? cursor : (last ?? cursor),
      }
    : {
        hasNextPage: true,
        hasPreviousPage: isCut,
        startCursor: isCut ? cursor : (first ?? cursor),
        endCursor: last ?? cursor,
      };
}
