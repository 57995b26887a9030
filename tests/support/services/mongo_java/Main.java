import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.List;

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

    /** The library writes its file once a second; as in MongoDB, a journaled write is there before it is answered. */
    static class JournalingBackend extends H2Backend {

        JournalingBackend(String file) {
            super(file);
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            Document answer = super.handleMessage(message);
            Object concern = message.getDocument().get("writeConcern");
            if (concern instanceof Document && Boolean.TRUE.equals(((Document) concern).get("j"))) {
                commit();
            }
            return answer;
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
