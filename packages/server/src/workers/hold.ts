/** Who is not worked for at present, as after a restore that nobody has accepted. */
export interface Hold {
  /** Whether somebody is held. */
  readonly isUp: boolean;
  /** Whether everybody is. */
  readonly isWhole: boolean;
  /** Whether an organization is. */
  holds(organizationId: string): Promise<boolean>;
}
