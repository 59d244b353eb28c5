/** A failure to start, told to the operator in one line. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
