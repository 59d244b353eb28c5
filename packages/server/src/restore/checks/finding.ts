import { describeViolation } from '../../integrity/open.ts';
import type { Unopened } from '../../keyring-admin/verify.ts';
import type { Violation } from '../../storage/integrity/integrity.ts';
import type { WrongAddress } from './addresses.ts';
import type { SignedCurve } from './curves.ts';

/** Something in a database that is not as it should be. */
export type Finding =
  | ({ readonly check: 'row' } & Violation)
  | ({ readonly check: 'secret' } & Unopened)
  | ({ readonly check: 'address' } & WrongAddress)
  | ({ readonly check: 'signature' } & SignedCurve)
  /** The database file was copied without its log. */
  | { readonly check: 'log'; readonly file: string }
  /** The pages of the database file do not fit together. */
  | { readonly check: 'file'; readonly file: string; readonly because: string };

/** For a person, as one line. */
export function describeFinding(finding: Finding): string {
  switch (finding.check) {
    case 'row':
      return `not as a service wrote it: ${describeViolation(finding)}`;
    case 'secret': {
      const { table, id, organizationId, missingRootKey } = finding;
      const why = missingRootKey === undefined ? '' : `: it is under root key ${missingRootKey}, which is missing`;
      return `not opened: ${table} ${id} of organization ${organizationId}${why}`;
    }
    case 'address':
      return `not the address of its key: ${finding.table} ${finding.id} of organization ${finding.organizationId} (${finding.because})`;
    case 'signature':
      return `not a signature of its key: ${finding.id} on ${finding.curve}`;
    case 'log':
      return `the database ${finding.file} was copied without its log: what was committed last is missing, and nobody can tell what that is`;
    case 'file':
      return `the database ${finding.file} is damaged: ${finding.because}`;
  }
}
