/**
 * What a vote keeps of its voter: the wire record of that moment. The domain that renders it says in this interface what
 * else it has.
 */
export interface UserSnapshot {
  userId: string;
  userName: string;
}
