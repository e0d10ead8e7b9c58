// The last step of a release. The commit and its tag are pushed before anything else, so that whatever is public has its source. What
// the registries already have stays as it is: a release that stopped is run again.
import { execFileSync, spawnSync } from 'node:child_process';
import { fail, say } from './setup.mjs';

/**
 * Publishes a version that has been made. Ends the process where a step fails.
 *
 * @param root the checkout, at the commit of the version
 * @param notes the file of the notes, which become the message of the tag
 * @param packages names and tarballs
 * @param images names without the version, with the registry
 * @param engine docker, podman or buildah
 */
export function publish({ root, version, notes, packages, images, engine }) {
  const tag = `v${version}`;
  // A release that began in another checkout.
  if (commitOf(root, tag) === null)
    succeeds(root, 'git', ['fetch', '--quiet', 'origin', `refs/tags/${tag}:refs/tags/${tag}`]);
  if (commitOf(root, tag) === null)
    run(root, 'git', ['tag', '--annotate', tag, '--cleanup', 'whitespace', '--file', notes]);
  if (!succeeds(root, 'git', ['ls-remote', '--exit-code', 'origin', `refs/tags/${tag}`], idOf(root, tag)))
    run(root, 'git', ['push', '--atomic', 'origin', 'HEAD', tag]);
  for (const { name, tarball } of packages) {
    if (succeeds(root, 'npm', ['view', `${name}@${version}`, 'version'], version)) present(`${name}@${version}`);
    else run(root, 'npm', ['publish', '--access', 'public', tarball]);
  }
  for (const image of images.map((name) => `${name}:${version}`)) {
    if (succeeds(root, engine, ['manifest', 'inspect', image])) present(image);
    else run(root, engine, ['push', image]);
  }
  say(`${tag} is published`);
}

/** Why a tag cannot be that of the present commit; none if it is missing, or is this commit's already. */
export function tagFaults(root, tag) {
  const commit = commitOf(root, tag);
  if (commit === null || commit === commitOf(root, 'HEAD')) return [];
  return [`The tag ${tag} is another commit's. If it was not pushed, remove it: git tag --delete ${tag}`];
}

const present = (name) => say(`${name} is already published`);

function commitOf(root, name) {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : null;
}

function idOf(root, tag) {
  return execFileSync('git', ['rev-parse', `refs/tags/${tag}`], { cwd: root, encoding: 'utf8' }).trim();
}

/** Whether a command ends with 0, and its output begins with a text. */
function succeeds(root, command, args, text = '') {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return status === 0 && stdout.startsWith(text);
}

function run(root, command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    fail(`${[command, ...args.slice(0, 1)].join(' ')} failed.`, error?.message ?? 'Run the release again.');
}
