import type { BackupSummary, Checked, CheckFinding } from '@custos/server/admin';
import { InvalidArgumentError } from 'commander';

// What `custos verify`, `custos drill` and `custos restore` say of a database: the same of each.

const SAMPLE = 300;
const CURVES = { CURVE_SECP256K1: 'secp256k1', CURVE_P256: 'P-256', CURVE_ED25519: 'Ed25519' } as const;

/** Something could not be done at all, in contrast to something that was found. */
export const NOT_DONE = 2;

export interface SampleFlags {
  readonly sample: number;
  readonly full?: boolean;
}

export const SAMPLE_OPTION = [
  '--sample <number>',
  'how many wallet accounts, and how many private keys, are derived and compared',
  sampleOf,
  SAMPLE,
] as const;

export const sampleIn = ({ sample, full = false }: SampleFlags): number | 'all' => (full ? 'all' : sample);

function sampleOf(text: string): number {
  if (/^[0-9]{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

export const toStandardOutput = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

export const toStandardError = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** A line for each finding, as it is found. */
export const reporter =
  (
    json: boolean,
    describe: (finding: CheckFinding) => string,
    write = toStandardOutput,
  ): ((finding: CheckFinding) => void) =>
  (finding) =>
    write(json ? JSON.stringify(finding) : describe(finding));

/** The end of a report, as one document. */
export function jsonOf(checked: Checked, more: Readonly<Record<string, unknown>> = {}): string {
  const { isRequired: required, ...rest } = checked;
  return JSON.stringify({ ...more, ...rest, required });
}

/** The end of a report, in lines. */
export function linesOf(checked: Checked): string[] {
  const { rows, bad, organizations, secrets, unopened, addresses, signatures } = checked;
  const all = (wrong: number, right: string, text: string): string => (wrong === 0 ? right : `${wrong} ${text}`);
  const curves = signatures.map(({ curve, outcome }) => `${CURVES[curve]} ${outcome}`);
  return [
    `verified ${count(rows, 'row')}: ${all(bad, 'all as services wrote them', 'not as a service wrote them')}`,
    `opened ${count(secrets, 'secret')} of ${count(organizations, 'organization')}: ${all(unopened, 'all open', 'not opened')}`,
    `compared ${addresses.compared} of ${count(addresses.of, 'account and key', 'accounts and keys')}: ${all(addresses.wrong, 'all have the addresses of their keys', 'have not the address of their key')}`,
    `signed with a key of each curve: ${curves.join(', ')}`,
  ];
}

/** What a backup is, for a person. */
export function describeBackup({ id, version, snapshotAtMs, rows, described }: BackupSummary): string {
  const { organizationId, organizationName, organizations } = described;
  const others = organizations > 1 ? ` and ${organizations - 1} more` : '';
  return `backup ${id} of ${timeOf(snapshotAtMs)}, by version ${version}: organization ${organizationName ?? '?'} (${organizationId ?? '?'})${others}, ${count(rows, 'row')}`;
}

export const timeOf = (timeMs: number): string => new Date(timeMs).toISOString();

export const count = (number: number, what: string, many = `${what}s`): string =>
  `${number} ${number === 1 ? what : many}`;

export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
