/** A value that cannot be used; the message ends the line that the operator sees. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}
