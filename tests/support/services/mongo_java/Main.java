import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractUniqueIndex;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.bson.ObjectId;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ObjectDataType;

/** Serves MongoDB's wire protocol on 127.0.0.1 from an H2 file: java -cp 'jars/*' Main.java PORT FILE. */
public class Main {

    /** PyMongo 4.11 and later refuse a server older than MongoDB 4.2, and that is what the library says it is. */
    enum Version implements MongoVersion {
        FIVE;

        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        public int getWireVersion() {
            return 13;
        }

        public String toVersionString() {
            return "5.0.0";
        }
    }

    /**
     * The library writes its file once a second; as in MongoDB, a journaled write is there before it is answered. No
     * operation is under way meanwhile, or a kill would leave half of it: a key in an index, and no document.
     */
    static class JournalingBackend extends H2Backend {

        private static final Set<String> READS = Set.of("aggregate", "count", "distinct", "find", "getMore");

        private final ReadWriteLock operations = new ReentrantReadWriteLock(true);

        JournalingBackend(String file) {
            super(file);
            getMvStore().setAutoCommitDelay(0);
        }

        @Override
        protected MongoDatabase openOrCreateDatabase(String name) {
            return new Database(name);
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            Document answer = READS.contains(message.getDocument().keySet().iterator().next())
                ? super.handleMessage(message)
                : holding(operations.readLock(), () -> super.handleMessage(message));
            Object concern = message.getDocument().get("writeConcern");
            if (concern instanceof Document && Boolean.TRUE.equals(((Document) concern).get("j"))) {
                holding(operations.writeLock(), () -> {
                    commit();
                    return null;
                });
            }
            return answer;
        }

        private static <T> T holding(Lock lock, Supplier<T> work) {
            lock.lock();
            try {
                return work.get();
            } finally {
                lock.unlock();
            }
        }

        /** As the library's, but for how it keeps things. An inner class: its constructor opens them already. */
        class Database extends H2Database {

            Database(String name) {
                super(name, getMvStore(), getCursorRegistry());
            }

            @Override
            protected MongoCollection<Object> openOrCreateCollection(String collection, CollectionOptions options) {
                String name = getFullCollectionNamespace(collection);
                MVMap.Builder<Object, Document> builder = new MVMap.Builder<>();
                builder.keyType(new Texts()).valueType(new Bson());
                MVMap<Object, Document> data = getMvStore().openMap("databases." + name, builder);
                MVMap<String, Object> meta = getMvStore().openMap("meta." + name);
                return new H2Collection(this, collection, options, data, meta, getCursorRegistry());
            }

            @Override
            protected Index<Object> openOrCreateUniqueIndex(
                    String collection, String name, List<IndexKey> keys, boolean sparse) {
                String map = getFullCollectionNamespace(collection) + "._index_" + name;
                MVMap.Builder<KeyValue, Object> builder = new MVMap.Builder<>();
                builder.keyType(new TextFirst()).valueType(new Texts());
                return new TextIndex(getMvStore().openMap(map, builder), name, keys, sparse);
            }
        }
    }

    /** Documents as MongoDB keeps them. The library's way is Java's serialization, of a whole page for each change. */
    static class Bson extends BasicDataType<Document> {

        @Override
        public int getMemory(Document document) {
            return encoded(document).readableBytes();
        }

        @Override
        public void write(WriteBuffer buffer, Document document) {
            buffer.put(encoded(document).nioBuffer());
        }

        @Override
        public Document read(ByteBuffer buffer) {
            ByteBuf bytes = Unpooled.wrappedBuffer(buffer);
            Document document = BsonDecoder.decodeBson(bytes);
            buffer.position(buffer.position() + bytes.readerIndex());
            return document;
        }

        @Override
        public Document[] createStorage(int size) {
            return new Document[size];
        }

        /** The library updates a document in place, while another thread may write its page: that one tries again. */
        private static ByteBuf encoded(Document document) {
            while (true) {
                ByteBuf bytes = Unpooled.buffer();
                try {
                    BsonEncoder.encodeDocument(document, bytes);
                    return bytes;
                } catch (ConcurrentModificationException updated) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    /** The library's own serializes two keys for each comparison, a dozen times a look-up. Texts need none of it. */
    static class TextIndex extends AbstractUniqueIndex<Object> {

        private final MVMap<KeyValue, Object> map;

        TextIndex(MVMap<KeyValue, Object> map, String name, List<IndexKey> keys, boolean sparse) {
            super(name, keys, sparse);
            this.map = map;
        }

        @Override
        protected Object removeDocument(KeyValue key) {
            return map.remove(key);
        }

        @Override
        protected boolean putKeyPosition(KeyValue key, Object position) {
            return map.putIfAbsent(key, Missing.ofNullable(position)) == null;
        }

        @Override
        protected Iterable<Map.Entry<KeyValue, Object>> getIterable() {
            return map.entrySet();
        }

        @Override
        protected Object getPosition(KeyValue key) {
            return map.get(key);
        }

        @Override
        public long getCount() {
            return map.sizeAsLong();
        }

        @Override
        public boolean isEmpty() {
            return map.isEmpty();
        }

        @Override
        public long getDataSize() {
            return getCount();
        }
    }

    /** Texts as their bytes, which the library writes letter by letter; all else as the library does. */
    static class Texts extends ObjectDataType {

        @Override
        public void write(WriteBuffer buffer, Object item) {
            if (item instanceof String) {
                byte[] bytes = ((String) item).getBytes(StandardCharsets.UTF_8);
                buffer.put((byte) 1).putVarInt(bytes.length).put(bytes);
            } else {
                super.write(buffer.put((byte) 0), item);
            }
        }

        @Override
        public Object read(ByteBuffer buffer) {
            if (buffer.get() == 0) {
                return super.read(buffer);
            }
            byte[] bytes = new byte[DataUtils.readVarInt(buffer)];
            buffer.get(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** Keys that are one text or one id, by that; then all others, as the library compares them. */
    static class TextFirst extends Texts {

        @Override
        public int compare(Object one, Object other) {
            Object first = only(one);
            Object second = only(other);
            if (first instanceof String && second instanceof String) {
                return ((String) first).compareTo((String) second);
            }
            if (first instanceof ObjectId && second instanceof ObjectId) {
                return ((ObjectId) first).compareTo((ObjectId) second);
            }
            int kinds = Integer.compare(kind(first), kind(second));
            return kinds != 0 ? kinds : super.compare(one, other);
        }

        @Override
        public int getMemory(Object key) {
            return super.getMemory(plain(key));
        }

        @Override
        public void write(WriteBuffer buffer, Object key) {
            super.write(buffer, plain(key));
        }

        @Override
        public Object read(ByteBuffer buffer) {
            Object key = super.read(buffer);
            if (key instanceof byte[]) {
                return new KeyValue(new ObjectId((byte[]) key));
            }
            return key instanceof String ? new KeyValue(key) : key;
        }

        private static int kind(Object only) {
            return only instanceof String ? 0 : only instanceof ObjectId ? 1 : 2;
        }

        /** What is written: a text or an id by itself takes a fraction of the room. */
        private static Object plain(Object key) {
            Object only = only(key);
            if (only instanceof ObjectId) {
                return ((ObjectId) only).toByteArray();
            }
            return only instanceof String ? only : key;
        }

        private static Object only(Object key) {
            KeyValue values = (KeyValue) key;
            return values.size() == 1 ? values.get(0) : null;
        }
    }

    public static void main(String[] arguments) {
        H2Backend backend = new JournalingBackend(arguments[1]);
        backend.version(Version.FIVE);
        MongoServer server = new MongoServer(backend);
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        System.out.println("listening");
        System.out.flush();
    }
}
