import type { Keyring } from '@custos/keyring';
import { verifyRows } from '../../integrity/passes.ts';
import { verifyStored } from '../../keyring-admin/verify.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Say } from '../say.ts';
import { type ComparedAddresses, compareAddresses, type Sample } from './addresses.ts';
import { type SignedCurve, signOnCurves } from './curves.ts';
import type { Finding } from './finding.ts';

export interface CheckOptions {
  /** How many wallet accounts, and how many private keys, are derived again. */
  readonly sample: Sample;
  readonly report: (finding: Finding) => void;
  readonly say: Say;
}

/** What was looked at. */
export interface Checked {
  readonly rows: number;
  /** Rows without a mark, where none is required yet. */
  readonly unmarked: number;
  /** Rows and sets that do not verify. */
  readonly bad: number;
  readonly isRequired: boolean;
  readonly organizations: number;
  readonly secrets: number;
  readonly unopened: number;
  readonly addresses: ComparedAddresses;
  readonly signatures: readonly SignedCurve[];
  /** All that was reported. */
  readonly findings: number;
}

/**
 * Everything that a database can be checked for, page by page: marks and sets of rows, secrets, addresses and signatures. The
 * integrity key must be loaded. Changes nothing, and may run beside services.
 */
export async function checkAll(
  storage: Storage,
  keyring: Keyring,
  { sample, report, say }: CheckOptions,
): Promise<Checked> {
  let findings = 0;
  const tell = (finding: Finding): void => {
    findings += 1;
    report(finding);
  };
  say('verifying marks and sets of rows');
  const rows = await verifyRows(storage, (violation) => tell({ check: 'row', ...violation }));
  say('opening every secret');
  const { organizations, secrets, unopened } = await verifyStored(storage, keyring, (found) =>
    tell({ check: 'secret', ...found }),
  );
  say('comparing addresses');
  const addresses = await compareAddresses(storage, keyring, {
    sample,
    report: (wrong) => tell({ check: 'address', ...wrong }),
  });
  const signatures = await signOnCurves(storage, keyring);
  for (const signed of signatures) if (signed.outcome === 'wrong') tell({ check: 'signature', ...signed });
  return { ...rows, organizations, secrets, unopened, addresses, signatures, findings };
}
