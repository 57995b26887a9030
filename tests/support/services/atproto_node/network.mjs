// The reference servers of the AT Protocol with the network that their own developers seed them with. Prints one line of
// JSON once everything is there, and ends with its standard input.
import { pathToFileURL } from 'node:url'

const modules = pathToFileURL(`${process.env.MODULES}/@atproto/dev-env/dist/`)
const { TestNetwork } = await import(new URL('index.js', modules))
const { generateMockSetup } = await import(new URL('mock/index.js', modules))

const network = await TestNetwork.create({ pds: { rateLimitsEnabled: true } })
await generateMockSetup(network)
await network.processAll()
console.log(`ready ${JSON.stringify({ pds: network.pds.url, appview: network.bsky.url })}`)
