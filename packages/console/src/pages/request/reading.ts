import type { Description, Risk } from '../../api/types.ts';
import type { RequestCheck, VoteFindings } from '../../api/vote.ts';

/** Why the request cannot be checked, in words; undefined where its bytes are known here. */
export function whyNotChecked({ state, body }: RequestCheck): string | undefined {
  if (state === 'known') return undefined;
  if (state === 'contradicted') return 'the stored request is not the one that the fingerprint names';
  return body === undefined
    ? 'not checkable here: its exact bytes did not come'
    : 'not checkable here: a secret is left out of its bytes';
}

/** The description as whoever decides has to take it: what cannot be checked here is never routine. */
export function withRequestCheck(description: Description, findings: VoteFindings | undefined): Description {
  // What is contradicted is said in red, and cannot be approved at all.
  if (findings?.request.state !== 'not-checkable') return description;
  const why = whyNotChecked(findings.request) ?? '';
  const risk: Risk = description.risk === 'ROUTINE' ? 'LOOK_CLOSELY' : description.risk;
  return {
    ...description,
    risk,
    marks: [...description.marks, { risk: 'LOOK_CLOSELY', text: why }],
    consequence:
      description.consequence ??
      'This browser could not check that the sentence is about these bytes. I know from elsewhere what is asked.',
  };
}

/** Why an approval is off because of what was found; undefined where it is not. */
export function whyNotApprove(findings: VoteFindings | undefined): string | undefined {
  if (findings === undefined) return 'The signatures are being checked.';
  if (findings.request.state === 'contradicted') return 'The stored request is another one than the fingerprint names.';
  if (findings.votes.some(({ check }) => check === 'not-verified')) return 'A signature was not verified.';
  return undefined;
}
