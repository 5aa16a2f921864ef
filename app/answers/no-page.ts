/** For a route without a page. Remix answers a refused method with the error page only if the route has a component. */
export default function NoPage() {
  return null;
}
