/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
export const isKnown = (header = '', etag: string): boolean =>
  header.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
