const framePattern = /^ {4}at .+$/;

/**
 * The lines `at …` of an error's stack. A stack begins with the message as it was when the error was made, and a
 * message may hold lines that look like frames. So what follows the message counts, up to the first other line; when
 * the message has been changed since, nothing tells the two apart, and there are no frames.
 */
export function framesOf(error: Error): readonly string[] {
  const { message, stack } = error;
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const messageAt = stack.indexOf(message);
  if (messageAt === -1) return [];
  const [, ...lines] = stack.slice(messageAt + message.length).split('\n');
  const end = lines.findIndex((line) => !framePattern.test(line));
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim());
}
