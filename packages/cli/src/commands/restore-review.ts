import type { Reviewed, ReviewFinding } from '@custos/server/admin';
import { Command } from 'commander';
import { NOT_DONE } from '../database-report.ts';
import { fail } from '../fail.ts';
import { removeWhenInterrupted } from '../interruption.ts';
import { line, time } from '../unverified.ts';

interface ReviewFlags {
  readonly against?: string;
  readonly identity?: readonly string[];
  readonly organization?: string;
  readonly json?: boolean;
}

const say = (line: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`${line}\n`);
};

const collect = (file: string, before: readonly string[] = []): readonly string[] => [...before, file];

/** `custos restore review`: what a restored database does not know. Takes the service's own settings. */
export function reviewCommand(): Command {
  return new Command('review')
    .description(
      'Report what happened since the backup that a database was restored from, before its fence is lifted: what became of each send that was waiting or under way, and with --against every credential, rule and key that is different by now. Changes nothing; exit code 1 if a send needs a decision or was altered, 2 if the review could not be done.',
    )
    .option(
      '--against <place>',
      'a newer SQLite file, the URL of a PostgreSQL database, a backup, or lines of JSON with activities',
    )
    .option('-i, --identity <file>', 'file with an identity of age that opens the backup; can be repeated', collect)
    .option(
      '--organization <id>',
      'an organization with its sub-organizations alone; without --against it lists what that organization itself has',
    )
    .option('--json', 'one JSON document a line: each finding, and at last the counts')
    .allowExcessArguments(false)
    .action(async ({ against, identity = [], organization, json = false }: ReviewFlags) => {
      const write = (line: string): void => {
        process.stdout.write(`${line}\n`);
      };
      try {
        // Loaded here: commands that only talk to a service must not wait for the whole of it to load.
        const { reviewRestored } = await import('@custos/server/admin');
        const text = new FindingText(write);
        const reviewed = await reviewRestored(process.env, {
          against,
          identities: identity,
          organizationId: organization,
          listsAll: json,
          say,
          onPlace: removeWhenInterrupted,
          report: (finding) => (json ? write(JSON.stringify(documentOf(finding))) : text.tell(finding)),
        });
        const { sends, undecided, altered, differences = null } = reviewed;
        if (json) write(JSON.stringify({ kind: 'counts', sends, undecided, altered, differences }));
        else for (const line of endOf(reviewed)) write(line);
        process.exitCode = undecided + altered > 0 ? 1 : 0;
      } catch (error) {
        fail(error, NOT_DONE);
      }
    });
}

/** The end of the report, in lines. */
function endOf({ sends, undecided, altered, differences }: Reviewed): string[] {
  const others = altered === 0 ? '' : `; ${count(altered, 'altered send')}`;
  const compared = differences === undefined ? '' : `; ${count(differences, 'difference')}`;
  const lines = [`\n${count(sends, 'send')} in question, ${undecided} of them undecided${others}${compared}`];
  if (undecided > 0)
    lines.push(
      'Undecided sends are held: decide each with `custos restore accept --send ID=landed:HASH`, `--send ID=failed` or `--send ID=resend`.',
    );
  if (altered > 0)
    lines.push(
      'Altered sends do not go out, and `--send` cannot decide them. `custos verify` names their rows: repair those before you accept (docs/guides/integrity.md#when-a-row-is-refused), and review again. A send whose row is repaired later may go out although it landed since the backup.',
    );
  return lines;
}

/** What the operator's scripts read: no signed bytes. */
function documentOf(finding: ReviewFinding): object {
  switch (finding.kind) {
    case 'restore': {
      const { kind, restorationId, backupId, snapshotAtMs, restoredAtMs, acceptedAtMs } = finding;
      const times = { snapshotAt: time(snapshotAtMs), restoredAt: time(restoredAtMs) };
      return { kind, restorationId, backupId, ...times, acceptedAt: acceptedAtMs ? time(acceptedAtMs) : null };
    }
    case 'send': {
      const { send, sighting, settlement } = finding;
      const { id, organizationId, activityId, caip2, sender, lane, state, createdAtMs } = send;
      return {
        kind: 'send',
        ...{ id, organizationId, activityId, caip2, sender, payer: lane, state, createdAt: time(createdAtMs) },
        verdict: sighting.kind,
        ...('attempt' in sighting && { txHash: sighting.attempt.hash }),
        ...('block' in sighting && { block: sighting.block.number, success: sighting.block.isSuccess }),
        ...('because' in sighting && { because: sighting.because }),
        accept: settlement.kind,
      };
    }
    case 'other-transaction': {
      const { kind, caip2, address, transaction } = finding;
      const { hash, nonce, block, says } = transaction;
      return { kind, caip2, address, txHash: hash, nonce: nonce ?? null, block: block ?? null, says };
    }
    case 'difference': {
      const { atMs, activity, isGenuine, kind: about, ...difference } = finding.difference;
      return {
        kind: 'difference',
        about,
        ...difference,
        at: atMs === undefined ? null : time(atMs),
        activity: activity === undefined ? null : { id: activity.id, type: activity.type },
        genuine: isGenuine ?? null,
      };
    }
    case 'entry': {
      const { kind: about, isGenuine, ...entry } = finding.entry;
      return { kind: 'entry', about, ...entry, genuine: isGenuine ?? null };
    }
    default:
      return finding;
  }
}

/** Findings for a person, under a heading for each kind. */
class FindingText {
  readonly #write: (line: string) => void;
  #heading = '';
  #organization: string | undefined;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  tell(finding: ReviewFinding): void {
    switch (finding.kind) {
      case 'restore': {
        const { backupId, snapshotAtMs, restoredAtMs, acceptedAtMs } = finding;
        const seconds = Math.max(0, Math.round((restoredAtMs - snapshotAtMs) / 1000));
        const missing = seconds < 120 ? count(seconds, 'second') : count(Math.round(seconds / 60), 'minute');
        this.#write(
          `Restored ${time(restoredAtMs)} from backup ${line(backupId)} of ${time(snapshotAtMs)}: ${missing} ${seconds === 1 ? 'is' : 'are'} missing.`,
        );
        this.#write(acceptedAtMs ? `Accepted ${time(acceptedAtMs)}.` : 'Not accepted yet: the fence is up.');
        return;
      }
      case 'send':
        this.#send(finding);
        return;
      case 'altered-send':
        this.#head('Altered sends: no service wrote these rows, and nothing is done with them');
        this.#write(`  ${line(finding.id)}`);
        return;
      case 'other-transaction': {
        const { caip2, address, transaction } = finding;
        const { hash, block, says } = transaction;
        this.#head('Transactions since the backup that are no send of this database');
        this.#write(
          `  ${caip2} ${address}: ${line(hash)} ${block === undefined ? 'waits' : `in block ${block}`}, ${line(says)}`,
        );
        return;
      }
      case 'difference':
        this.#difference(finding.difference);
        return;
      case 'unknowable':
        this.#head('What nobody can know here');
        this.#write(`  ${line(finding.text)}`);
        return;
      case 'entry': {
        const { what, id, name, values, isGenuine, organizationId } = finding.entry;
        this.#head('Who can do what, by this database: look for what you know to be otherwise');
        const doubt = isGenuine === false ? ' NOT WRITTEN BY A SERVICE' : '';
        const said = values.map((value) => `${value.what} ${line(value.value)}`).join(', ');
        this.#write(`  ${line(organizationId ?? '-')} ${what} ${line(name)} (${line(id)})${doubt}: ${said}`);
        return;
      }
      case 'count':
        this.#head('There are too many credentials and rules to list them all; --organization ID lists those of one');
        this.#write(`  ${finding.what}: ${finding.count}`);
    }
  }

  #head(heading: string): void {
    if (heading === this.#heading) return;
    this.#heading = heading;
    this.#organization = undefined;
    this.#write(`\n${heading}:`);
  }

  #send({ send, sighting, settlement }: Extract<ReviewFinding, { kind: 'send' }>): void {
    this.#head('Sends that were waiting or under way in the backup');
    const { id, organizationId, caip2, lane, state } = send;
    const where =
      sighting.kind === 'landed'
        ? `landed in block ${sighting.block.number} as ${sighting.attempt.hash}${sighting.block.isSuccess ? '' : ', and failed there'}`
        : sighting.kind === 'pending'
          ? `waits at a node as ${sighting.attempt.hash}`
          : `${VERDICTS[sighting.kind]}: ${line(sighting.because)}`;
    this.#write(`  ${id} (organization ${organizationId}, ${caip2}, paid by ${lane}, ${state} in the backup)`);
    this.#write(`    ${where}`);
    this.#write(`    accept ${ACTIONS[settlement.kind]}`);
  }

  #difference(difference: Extract<ReviewFinding, { kind: 'difference' }>['difference']): void {
    const { organizationId, kind, change, what, id, name, values, atMs, activity, isGenuine } = difference;
    this.#head('What is different there, the newest first');
    if (organizationId !== this.#organization) {
      this.#organization = organizationId;
      this.#write(`  ${organizationId === undefined ? 'The deployment' : `Organization ${line(organizationId)}`}`);
    }
    const when = atMs === undefined ? 'at an unknown time' : time(atMs);
    const by = activity === undefined ? '' : ` by ${line(activity.type)} ${line(activity.id)}`;
    const doubt = isGenuine === false ? ' NOT WRITTEN BY A SERVICE: do not believe it.' : '';
    this.#write(
      `    ${what} ${line(name)} (${line(id)}) was ${change} ${when}${by}.${consequence(kind, change)}${doubt}`,
    );
    if (change === 'removed') return;
    for (const value of values)
      this.#write(
        change === 'changed'
          ? `      ${value.what}: here ${quoted(value.here)}, there ${quoted(value.there)}`
          : `      ${value.what}: ${quoted(value.there)}`,
      );
  }
}

const VERDICTS = {
  void: 'cannot land any more',
  free: 'has not landed, and lands once at most',
  unseen: 'not seen',
  unknown: 'not known',
} as const;

const ACTIONS = {
  record: 'records that, and does not send it again',
  close: 'records that it landed',
  fail: 'reports it as failed',
  keep: 'lets it go on as it was',
  again: 'sends it',
  anew: 'sends it anew',
  hold: 'HOLDS it until you decide',
} as const;

/** What follows from a difference for whoever accepts the database as it is. */
function consequence(kind: string, change: 'added' | 'removed' | 'changed'): string {
  if (kind === 'keys' && change === 'added') return ' It is LOST here: nothing of it is in this database.';
  if (kind === 'keys') return '';
  if (kind === 'activities') return ' This database does not know it.';
  if (change === 'added') return ' It is missing here.';
  if (change === 'removed') return ' It is back here, and counts again.';
  return ' The value here is the old one.';
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
const quoted = (value: string | null): string => (value === null ? 'nothing' : `"${line(value)}"`);
