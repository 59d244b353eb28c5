/** The operator does not pay for it: a limit would be passed. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

/** The key or its organization was deleted, or the operator's key was never imported: there is nothing to wait for. */
export class SignerGone extends Error {
  override readonly name = 'SignerGone';
}
